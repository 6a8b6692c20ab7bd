"""Receipt and RECORD of an installed bundle altered: skills are served, the revision is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import odd_files
from tests.installed_builder import Installation, InstalledBuilder, lock_of, receipt_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OTHER_SKILLS = {"alpha": {"SKILL.md": b"---\nname: alpha\ndescription: Other.\n---\n"}}


def _truncated(made: Installation) -> None:
    made.receipt.write_bytes(made.receipt.read_bytes()[:100])


def _foreign_package(made: Installation) -> None:
    made.receipt.write_bytes(receipt_of(InstalledBuilder().lock, name="other").to_bytes())


def _foreign_version(made: Installation) -> None:
    made.receipt.write_bytes(receipt_of(InstalledBuilder().lock, version="1.2.1").to_bytes())


def _foreign_lock(made: Installation) -> None:
    made.receipt.write_bytes(receipt_of(lock_of(OTHER_SKILLS)).to_bytes())


def _edited_commit(made: Installation) -> None:
    made.receipt.write_bytes(made.receipt.read_bytes().replace(b"c" * 40, b"d" * 40))


def _resealed_commit(made: Installation) -> None:
    receipt = InstalledBuilder(source_ref="refs/heads/evil").receipt
    made.receipt.write_bytes(receipt.to_bytes())


EDITS = (
    _truncated,
    _foreign_package,
    _foreign_version,
    _foreign_lock,
    _edited_commit,
    _resealed_commit,
)


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


def _assert_served_without_revision(made: Installation, gap: str) -> None:
    block = made.catalog().read("alpha").provenance
    source = block.source_provenance
    assert (block.source_ref, block.resolved_git_sha, block.repository) == (None, None, None)
    assert (source.status, source.build_verification) == ("unavailable", "unavailable")
    assert (source.integrity, source.reason, source.receipt_sha256) == ("verified", gap, None)


@pytest.mark.parametrize("change", EDITS)
def test_an_edited_receipt_is_altered(
    made: Installation, change: Callable[[Installation], None]
) -> None:
    """RECORD has another digest for it: exit 1. The skills are served all the same."""
    change(made)
    found = made.verify()
    assert (found.exit_code, found.receipt.state, found.lock.state) == (1, "altered", "ok")
    _assert_served_without_revision(made, "invalid_receipt")


@pytest.mark.parametrize("change", [_truncated, _foreign_package, _foreign_version, _edited_commit])
def test_an_edited_receipt_is_noticed_without_a_record(
    made: Installation, change: Callable[[Installation], None]
) -> None:
    """By its own digest of its fields, or by the installed metadata."""
    change(made)
    odd_files.remove(made.record)
    assert made.verify().exit_code in {1, 3}
    _assert_served_without_revision(made, "invalid_receipt")


def test_lock_and_receipt_that_contradict_each_other_alone_serve_nothing(
    made: Installation,
) -> None:
    """Without RECORD nobody says which of the two was altered: the lock is not believed."""
    _foreign_lock(made)
    odd_files.remove(made.record)
    found = made.verify()
    assert (found.lock.state, found.provenance, found.exit_code) == ("altered", None, 1)


@pytest.mark.parametrize(
    ("name", "state", "gap", "exit_code"),
    [
        ("missing", "missing", "missing_receipt", 3),
        ("symlink_to_a_copy", "linked", "invalid_receipt", 1),
        ("dangling_symlink", "linked", "invalid_receipt", 1),
        ("folder", "not_regular", "invalid_receipt", 1),
        ("fifo", "not_regular", "invalid_receipt", 1),
        ("sparse", "altered", "invalid_receipt", 1),
    ],
)
def test_whatever_else_lies_there_has_a_state(
    made: Installation, name: str, state: str, gap: str, exit_code: int
) -> None:
    """Gone, linked, special or huge; nothing is followed and nobody waits."""
    odd_files.KINDS[name][0](made.receipt)
    found = made.verify()
    assert (found.receipt.state, found.exit_code) == (state, exit_code)
    _assert_served_without_revision(made, gap)


def test_an_unreadable_receipt_cannot_be_told(tmp_path: Path) -> None:
    """Mode 000: exit 3."""
    del tmp_path
    with odd_files.unprivileged_folder() as folder:
        made = InstalledBuilder().install(folder)
        made.receipt.chmod(0)
        with odd_files.without_privileges():
            found = made.verify()
    assert (found.receipt.state, found.exit_code) == ("unreadable", 3)


@pytest.mark.parametrize("reason", ["dirty_source", "not_git_source"])
def test_a_build_that_names_no_commit_matches_all_the_same(tmp_path: Path, reason: str) -> None:
    """Exit 0, said in words; the receipt's own reason is the gap."""
    made = InstalledBuilder(reason=reason).install(tmp_path)  # type: ignore[arg-type]
    found = made.verify()
    assert (found.exit_code, found.gaps, len(found.notes)) == (0, (reason,), 1)
    assert found.provenance is not None
    assert found.provenance.resolved_git_sha is None
    assert found.provenance.source_provenance.integrity == "verified"
    assert found.provenance.source_provenance.receipt_sha256 == found.receipt.sha256


def test_a_coherent_rewrite_of_everything_passes(tmp_path: Path) -> None:
    """Nothing is signed: whoever rewrites files, lock, receipt and RECORD together is believed."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.skills)
    rewritten = InstalledBuilder(skills=OTHER_SKILLS).install(tmp_path)
    found = rewritten.verify()
    assert (found.exit_code, found.gaps) == (0, ())
    assert found.provenance is not None
    assert found.provenance.source_provenance.status == "asserted"


def test_a_coherent_rewrite_that_forgets_record_is_noticed(made: Installation) -> None:
    """Lock, receipt and files agree, RECORD does not: nothing is served."""
    record = made.record.read_bytes()
    odd_files.remove(made.skills)
    InstalledBuilder(skills=OTHER_SKILLS).install(made.site)
    made.record.write_bytes(record)
    found = made.verify()
    assert (found.exit_code, found.lock.state, found.provenance) == (1, "altered", None)


def test_without_a_record_the_bytes_still_match(made: Installation) -> None:
    """Exit 0 with the gap: nobody gives a second opinion."""
    odd_files.remove(made.record)
    found = made.verify()
    assert (found.exit_code, found.gaps, found.record.state) == (0, ("record_absent",), "missing")
    block = made.catalog().search().provenance
    assert block.resolved_git_sha is not None


def test_a_record_that_contradicts_the_lock_does_not_stop_serving(made: Installation) -> None:
    """The lock is the authority, RECORD a second opinion: exit 1, named, served."""
    text = made.record.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "references/guide.md" not in line]
    made.record.write_text("\n".join([*lines, ""]), encoding="utf-8")
    found = made.verify()
    (row,) = found.differences
    assert (row.state, row.contradicted_by) == ("ok", ("record",))
    assert (found.exit_code, found.gaps) == (1, ("record_mismatch",))
    answer = made.catalog().read("alpha", "references/guide.md")
    assert answer.provenance.source_provenance.integrity == "verified"


def test_a_record_that_cannot_be_read_is_told(made: Installation) -> None:
    """Its problem has a line; the skills are served."""
    with made.record.open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    found = made.verify()
    assert (found.exit_code, found.record.state) == (1, "invalid")
    assert found.record.problems[0].line is not None
    assert made.catalog().search().total == 2


@pytest.mark.parametrize("name", ["tool.py", "__init__.py"])
def test_changed_code_is_named_by_record(made: Installation, name: str) -> None:
    """The lock does not speak of the package's own code; RECORD does."""
    with (made.folder / name).open("ab") as file:
        file.write(b"import os\n")
    found = made.verify()
    (row,) = found.differences
    assert (row.path, row.state, row.contradicted_by) == (
        f"acme_skills/{name}",
        "changed",
        ("record",),
    )
    assert found.exit_code == 1


def test_missing_and_extra_code_is_named(made: Installation) -> None:
    """A module that is gone and one that nobody lists."""
    (made.folder / "tool.py").rename(made.folder / "evil.py")
    states = {row.path: row.state for row in made.verify().differences}
    assert states == {"acme_skills/tool.py": "missing", "acme_skills/evil.py": "extra"}


def test_cached_byte_code_of_our_code_is_tolerated(made: Installation) -> None:
    """Python writes it on the first import; installers list it without a digest."""
    cache = made.folder / "__pycache__"
    cache.mkdir()
    (cache / "tool.cpython-311.pyc").write_bytes(b"\0")
    (cache / "__init__.cpython-311.pyc").write_bytes(b"\0")
    with made.record.open("a", encoding="utf-8") as file:
        file.write("acme_skills/__pycache__/__init__.cpython-311.pyc,,\n")
    found = made.verify()
    assert (found.exit_code, found.counts["tolerated"]) == (0, 1)


def test_an_installation_made_of_links_is_served_and_cannot_be_told(made: Installation) -> None:
    """Exit 3 and the gap; the bytes behind the links are compared all the same."""
    store = made.site.with_name("store")
    store.mkdir()
    for number, path in enumerate(sorted(made.folder.rglob("*"))):
        if path.is_file():
            path.rename(store / str(number))
            path.symlink_to(store / str(number))
    found = made.verify()
    assert (found.exit_code, found.layout, found.gaps) == (3, "linked", ("linked_install",))
    assert not found.differences
    answer = made.catalog().read("alpha")
    assert answer.provenance.source_provenance.integrity == "unavailable"
    assert answer.provenance.resolved_git_sha is None
