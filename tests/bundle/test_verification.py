"""One verdict, and everything that led to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import verification
from skills_bundle.bundle.documents import Document, Identity
from skills_bundle.bundle.verification import InstallationFacts, PackageFiles, Verification
from skills_bundle.errors import Problem, UnsafeFileError
from skills_bundle.files.tree import FileEntry
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import RecordFile, RecordRow
from tests.installed_builder import SAMPLE, InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.errors import UnsafeFileKind

BUILDER = InstalledBuilder()
PREFIX = "pkg/.agents/skills/"
FILES = {
    f"{PREFIX}{skill}/{path}": data
    for skill, files in SAMPLE.items()
    for path, data in files.items()
}
READ = {path: FileEntry.of(data) for path, data in FILES.items()}
RECORD = RecordFile({path: RecordRow(seen.sha256, seen.size) for path, seen in READ.items()})
FIRST = min(READ)


def _verify(**changed: object) -> Verification:
    """Verify evidence that is fine but for what is given."""
    parts: dict[str, object] = {
        "location": "/site/pkg",
        "layout": "installed",
        "identity": Identity("acme-skills", "1.2.0", known=True),
        "lock": Document(state="ok", value=BUILDER.lock, sha256="a" * 64),
        "receipt": Document(state="ok", value=BUILDER.receipt, sha256="b" * 64),
        "record": RECORD,
        "files": _files(),
    }
    return verification.verify(InstallationFacts(**(parts | changed)))  # type: ignore[arg-type]


def _unread(state: str) -> Document[object]:
    return Document(state=state)  # type: ignore[arg-type]


def _files(**seen: FileEntry) -> PackageFiles:
    return PackageFiles(
        package="pkg",
        bundle_prefix="pkg/.agents/",
        skills_prefix=PREFIX,
        read=READ | ({FIRST: seen["first"]} if seen else {}),
    )


def test_everything_fine_is_a_match() -> None:
    """Exit 0 without a gap; counts say how many files were compared."""
    found = _verify()
    assert (found.verdict, found.exit_code, found.gaps, found.notes) == ("match", 0, (), ())
    assert found.counts == {"ok": len(FILES)}


@pytest.mark.parametrize(
    ("state", "exit_code"),
    [
        ("missing", 3),
        ("unreadable", 3),
        ("invalid", 3),
        ("altered", 1),
        ("linked", 1),
        ("not_regular", 1),
    ],
)
@pytest.mark.parametrize("document", ["lock", "receipt"])
def test_the_state_of_a_document_decides(document: str, state: str, exit_code: int) -> None:
    """What is not there cannot be compared; what was altered differs."""
    found = _verify(**{document: _unread(state)})
    assert found.exit_code == exit_code


def test_what_differs_outweighs_what_cannot_be_told() -> None:
    """No receipt and an altered file: exit 1."""
    found = _verify(receipt=_unread("missing"), files=_files(first=FileEntry("missing")))
    assert (found.exit_code, found.gaps) == (1, ("missing_receipt", "altered_files"))


def test_no_record_is_a_match_said_in_words() -> None:
    """Exit 0 with a note."""
    found = _verify(record=None)
    assert (found.exit_code, found.gaps) == (0, ("record_absent",))
    assert found.notes == ("There is no RECORD to confirm the files.",)


@pytest.mark.parametrize(
    ("kind", "exit_code", "gap"),
    [
        ("unreadable", 3, "record_unreadable"),
        ("not_regular", 1, "record_unreadable"),
        ("linked", 1, "record_unreadable"),
        ("size", 1, "record_mismatch"),
    ],
)
def test_a_record_that_is_there_and_was_not_read_is_not_absent(
    kind: UnsafeFileKind, exit_code: int, gap: str
) -> None:
    """What is no file was put there; what the system keeps from us may be fine."""
    found = _verify(record=None, record_refused=UnsafeFileError(kind, "RECORD"))
    assert (found.exit_code, found.gaps) == (exit_code, (gap,))


def test_a_document_that_record_leaves_out_is_a_mismatch() -> None:
    """Exit 1: an installer lists every file."""
    found = _verify(unlisted=("pkg/.agents/catalog.lock.json",))
    assert (found.exit_code, found.gaps) == (1, ("record_mismatch",))
    assert found.record.problems[0].message == "does not list pkg/.agents/catalog.lock.json"


def test_a_locked_file_that_cannot_be_read_cannot_be_told() -> None:
    """Exit 3, and neither integrity nor a revision is claimed."""
    found = _verify(files=_files(first=FileEntry("unreadable")))
    assert (found.exit_code, found.gaps) == (3, ("unreadable_files",))
    assert found.provenance is not None
    assert found.provenance.source_provenance.integrity == "unavailable"
    assert found.provenance.resolved_git_sha is None


def test_a_folder_that_cannot_be_listed_cannot_be_told() -> None:
    """Exit 3; what is served was read, so that claim stays."""
    found = _verify(files=replace(_files(), listed={"pkg/.agents/skills": "unreadable"}))
    assert (found.exit_code, found.gaps) == (3, ("unseen_entries",))
    assert found.provenance is not None
    assert found.provenance.source_provenance.integrity == "verified"


def test_what_differs_outweighs_what_cannot_be_read() -> None:
    """Both gaps, exit 1."""
    listed = {"pkg/.agents/skills": "unreadable"}
    files = replace(_files(first=FileEntry("missing")), listed=listed)
    found = _verify(files=files)
    assert (found.exit_code, found.gaps) == (1, ("altered_files", "unseen_entries"))


def test_a_linked_installation_cannot_be_told() -> None:
    """Exit 3, though every byte matches."""
    found = _verify(layout="linked")
    assert (found.exit_code, found.gaps) == (3, ("linked_install",))


def test_a_source_checkout_cannot_be_told() -> None:
    """Exit 3; its files are not compared with a lock made from them."""
    found = _verify(layout="source", receipt=_unread("missing"), record=None)
    assert (found.exit_code, found.gaps, found.files) == (3, ("editable_install",), ())


def test_a_record_with_problems_differs() -> None:
    """Exit 1, and each problem has its line."""
    problem = Problem(code="record", message="is broken", path="RECORD", line=3)
    found = _verify(record=RecordFile(RECORD.rows, (problem,)))
    assert (found.exit_code, found.gaps) == (1, ("record_mismatch",))
    assert found.record.problems[0].line == 3


def test_a_lock_with_a_wrong_git_tree_is_altered() -> None:
    """The trees are recomputed from what was read."""
    digests = BUILDER.lock.digests.model_copy(update={"git_tree": "f" * 40})
    lock = BUILDER.lock.model_copy(update={"digests": digests})
    found = _verify(lock=Document(state="ok", value=lock, sha256="a" * 64))
    assert (found.lock.state, found.exit_code, found.provenance) == ("altered", 1, None)


def test_each_row_has_the_digests_that_were_expected_and_found() -> None:
    """A reviewer can repeat the comparison with other tools."""
    other = FileEntry("file", 3, "f" * 64)
    (row,) = _verify(files=_files(first=other)).differences
    assert (row.path, row.expected_sha256, row.found_sha256) == (
        FIRST,
        sha256_hex(FILES[FIRST]),
        "f" * 64,
    )
    assert (row.expected_size, row.found_size) == (len(FILES[FIRST]), 3)


def test_the_whole_is_a_json_object(tmp_path: Path) -> None:
    """`--json` prints this; its top level is a promise."""
    found = InstalledBuilder().install(tmp_path).verify().to_dict()
    assert list(found) == [
        "verdict",
        "exit_code",
        "location",
        "layout",
        "package_name",
        "package_version",
        "lock",
        "receipt",
        "record",
        "sbom",
        "provenance",
        "proof",
        "gaps",
        "notes",
        "counts",
        "files",
    ]
    assert found["location"] == str(tmp_path / "acme_skills")
