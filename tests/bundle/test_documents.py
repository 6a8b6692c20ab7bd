"""Whom to believe when lock, receipt, RECORD and metadata contradict each other."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.receipt import BuildReceipt, Source, seal
from skills_bundle.errors import UnsafeFileError
from skills_bundle.formats.digest import git_object_id, sha256_hex
from skills_bundle.formats.metadata_files import RecordRow
from tests.installed_builder import NAME, VERSION, InstalledBuilder, metadata_of

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.errors import UnsafeFileKind

KNOWN = Identity(NAME, VERSION, known=True)
METADATA_SHA256 = sha256_hex(metadata_of(NAME, VERSION))
BUILDER = InstalledBuilder()
LOCK, RECEIPT = BUILDER.lock.to_bytes(), BUILDER.receipt.to_bytes()


def _row(data: bytes) -> RecordRow:
    return RecordRow(sha256_hex(data), len(data))


def _lock(data: bytes = LOCK, row: RecordRow | None = None) -> Document[CatalogLock]:
    return documents.read_lock(data, row)


def _receipt(
    receipt: BuildReceipt = BUILDER.receipt, row: RecordRow | None = None
) -> Document[BuildReceipt]:
    return documents.read_receipt(receipt.to_bytes(), row)


def _resealed(**changed: object) -> BuildReceipt:
    """A receipt with other parts that contradicts itself nowhere."""
    parts = {
        name: getattr(BUILDER.receipt, name)
        for name in ("package", "catalog", "inputs", "asserted", "source")
    }
    return seal(**(parts | changed))  # type: ignore[arg-type]


def test_two_that_agree_are_believed() -> None:
    """With or without RECORD."""
    for row in (None, _row(LOCK), RecordRow(None, None)):
        lock, receipt = documents.cross_check(_lock(row=row), _receipt(), KNOWN)
        assert (lock.state, receipt.state) == ("ok", "ok")
        assert lock.believed == BUILDER.lock


@pytest.mark.parametrize(
    ("identity", "state"),
    [
        (KNOWN, "ok"),
        (Identity(NAME, "1.2.1", known=True), "altered"),
        (Identity("other", VERSION, known=True), "altered"),
        (Identity("other", "0", known=False), "altered"),
        (Identity(NAME, "0", known=False), "ok"),
        (Identity("", "", known=False), "ok"),
        (replace(KNOWN, metadata_sha256=METADATA_SHA256), "ok"),
        (replace(KNOWN, metadata_sha256="0" * 64), "altered"),
    ],
)
def test_a_receipt_is_for_the_distribution_that_is_installed(
    identity: Identity, state: str
) -> None:
    """Compared with METADATA; without any, with the name that was looked for."""
    assert documents.cross_check(_lock(), _receipt(), identity)[1].state == state


def test_a_lock_that_record_confirms_outweighs_the_receipt() -> None:
    """Two against one."""
    other = BUILDER.receipt.catalog.model_copy(update={"sha256": "a" * 64})
    lock, receipt = documents.cross_check(
        _lock(row=_row(LOCK)), _receipt(_resealed(catalog=other)), KNOWN
    )
    assert (lock.state, receipt.state) == ("ok", "altered")


@pytest.mark.parametrize("receipt_row", [None, "confirmed"])
def test_a_lock_that_nobody_confirms_is_outweighed(receipt_row: str | None) -> None:
    """One against one: serving nothing is the lesser harm."""
    other = _resealed(catalog=BUILDER.receipt.catalog.model_copy(update={"sha256": "a" * 64}))
    row = None if receipt_row is None else _row(other.to_bytes())
    lock, receipt = documents.cross_check(_lock(), _receipt(other, row), KNOWN)
    assert (lock.state, receipt.state) == ("altered", "ok")
    assert lock.believed is None


def test_a_receipt_with_another_git_tree_than_its_lock_is_altered() -> None:
    """It names the right lock and says something else about it."""
    other = BUILDER.receipt.catalog.model_copy(update={"git_tree": "a" * 40})
    lock, receipt = documents.cross_check(_lock(), _receipt(_resealed(catalog=other)), KNOWN)
    assert (lock.state, receipt.state) == ("ok", "altered")


def test_a_receipt_whose_proof_does_not_lead_to_its_commit_is_altered() -> None:
    """The proof is recomputed."""
    source = BUILDER.receipt.source.model_copy(update={"proof": ("dHJlZQ==",)})
    receipt = documents.cross_check(_lock(), _receipt(_resealed(source=source)), KNOWN)[1]
    assert receipt.state == "altered"
    assert receipt.problems[0].path == "source.proof[0]"


def test_a_receipt_whose_proof_holds_is_believed() -> None:
    """Commit to root tree to skills folder, by SHA-1 alone."""
    skills_tree = BUILDER.lock.digests.git_tree
    tree = b"40000 skills\0" + bytes.fromhex(skills_tree)
    who = "A <a@example.org> 1 +0000"
    head = f"tree {git_object_id('tree', tree)}\nauthor {who}\ncommitter {who}\n"
    commit = f"{head}\nmessage\n".encode()
    source = Source(
        state="clean",
        reason=None,
        commit=git_object_id("commit", commit),
        skills_tree=skills_tree,
        proof=(_base64(commit), _base64(tree)),
    )
    receipt = documents.cross_check(_lock(), _receipt(_resealed(source=source)), KNOWN)[1]
    assert receipt.state == "ok"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("kind", "row", "state"),
    [
        ("missing", _row(LOCK), "missing"),
        ("linked", _row(LOCK), "linked"),
        ("not_regular", None, "not_regular"),
        ("unreadable", _row(LOCK), "unreadable"),
        ("changed", None, "altered"),
        ("size", _row(LOCK), "altered"),
        ("size", None, "invalid"),
    ],
)
def test_a_file_that_cannot_be_read_has_the_state_of_its_kind(
    kind: UnsafeFileKind, row: RecordRow | None, state: str
) -> None:
    """One that is too large is altered if RECORD lists another, else it was never a lock."""
    found = documents.read_lock(UnsafeFileError(kind, "lock"), row)
    assert (found.state, found.value, found.sha256) == (state, None, None)
    assert found.problems


def test_an_altered_document_keeps_its_record_and_its_reasons() -> None:
    """What it says can still be shown, but it is not believed."""
    found = _lock(row=_row(b"other"))
    assert found.state == "altered"
    assert found.value is not None
    assert found.believed is None
    assert [problem.code for problem in found.problems] == ["record"]


def test_bytes_that_are_no_lock_say_why_and_that_record_differs() -> None:
    """Both reasons, the cause first."""
    found = documents.read_lock(b"{", _row(LOCK))
    assert found.state == "altered"
    assert len(found.problems) == 2
