"""What lock and RECORD list compared with what lies there."""

from __future__ import annotations

import pytest

from skills_bundle.bundle import verification
from skills_bundle.bundle.verification import FileRow, PackageFiles
from skills_bundle.files.tree import FileEntry, FileKind
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import RecordFile, RecordRow
from tests.installed_builder import lock_of

DATA = b"---\nname: a\n---\n"
LOCK = lock_of({"a": {"SKILL.md": DATA}})
PATH = "pkg/.agents/skills/a/SKILL.md"
GOOD = FileEntry("file", len(DATA), sha256_hex(DATA))
OTHER = FileEntry("file", len(DATA), "f" * 64)
RIGHT = RecordRow(sha256_hex(DATA), len(DATA))


def _rows(
    seen: dict[str, FileEntry],
    record: dict[str, RecordRow] | None = None,
    listed: dict[str, FileKind] | None = None,
    *,
    locked: bool = True,
) -> dict[str, FileRow]:
    files = PackageFiles(
        package="pkg",
        bundle_prefix="pkg/.agents/",
        skills_prefix="pkg/.agents/skills/",
        documents=frozenset({"pkg/.agents/catalog.lock.json"}),
        metadata="pkg-1.dist-info",
        read=seen,
        listed=listed or {},
    )
    rows = verification.compare_files(
        LOCK if locked else None, None if record is None else RecordFile(record), files
    )
    return {row.path: row for row in rows}


def test_a_locked_file_that_is_there_is_ok() -> None:
    """Nobody has anything against it."""
    row = _rows({PATH: GOOD}, {PATH: RIGHT})[PATH]
    assert (row.state, row.contradicted_by, row.is_fine) == ("ok", (), True)
    assert (row.expected_sha256, row.found_sha256) == (GOOD.sha256, GOOD.sha256)


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        (OTHER, "changed"),
        (FileEntry("size", 10**9), "changed"),
        (FileEntry("changed"), "changed"),
        (FileEntry("missing"), "missing"),
        (FileEntry("linked"), "linked"),
        (FileEntry("not_regular"), "not_regular"),
    ],
)
def test_a_locked_file_that_is_something_else_has_its_state(seen: FileEntry, state: str) -> None:
    """Both witnesses contradict it."""
    row = _rows({PATH: seen}, {PATH: RIGHT})[PATH]
    assert (row.state, row.contradicted_by) == (state, ("lock", "record"))


def test_a_file_that_cannot_be_read_is_contradicted_by_nobody() -> None:
    """It may be what was installed; it is not fine either."""
    path = "pkg/tool.py"
    rows = _rows(
        {PATH: FileEntry("unreadable", 7), path: FileEntry("unreadable")},
        {PATH: RIGHT, path: RIGHT},
    )
    assert [(row.state, row.contradicted_by) for row in rows.values()] == [("unreadable", ())] * 2
    assert not rows[PATH].is_fine
    assert rows[PATH].found_size == 7


@pytest.mark.parametrize("path", ["pkg/.agents", "pkg/cli", "pkg"])
def test_a_folder_that_cannot_be_listed_has_a_row(path: str) -> None:
    """Anything may lie in it."""
    assert _rows({PATH: GOOD}, None, {path: "unreadable"})[path].state == "unreadable"


@pytest.mark.parametrize(("found", "witnesses"), [("a" * 128, ()), ("b" * 128, ("record",))])
def test_record_may_use_another_algorithm(found: str, witnesses: tuple[str, ...]) -> None:
    """Its digest is compared with one by the same algorithm."""
    seen = FileEntry("file", len(DATA), GOOD.sha256, recorded=found)
    row = _rows({PATH: seen}, {PATH: RecordRow("a" * 128, len(DATA), "sha512")})[PATH]
    assert row.contradicted_by == witnesses


def test_metadata_is_compared_with_record() -> None:
    """Name and version of every answer are read from it; other metadata is not looked at."""
    path, other = "pkg-1.dist-info/METADATA", "pkg-1.dist-info/INSTALLER"
    rows = _rows({PATH: GOOD, path: FileEntry("missing")}, {PATH: RIGHT, path: RIGHT, other: RIGHT})
    assert {path: row.state for path, row in rows.items()} == {PATH: "ok", path: "missing"}


def test_a_locked_file_nobody_looked_at_is_missing() -> None:
    """Not having looked is never taken for a match."""
    assert _rows({})[PATH].state == "missing"


@pytest.mark.parametrize(
    ("row", "witnesses"),
    [
        (RIGHT, ()),
        (RecordRow(None, None), ()),
        (RecordRow(None, len(DATA)), ()),
        (RecordRow(None, 1), ("record",)),
        (RecordRow("e" * 64, len(DATA)), ("record",)),
        (RecordRow(RIGHT.sha256, 1), ("record",)),
    ],
)
def test_record_is_a_second_opinion(row: RecordRow, witnesses: tuple[str, ...]) -> None:
    """It may have none, and it does not change the state."""
    found = _rows({PATH: GOOD}, {PATH: row})[PATH]
    assert (found.state, found.contradicted_by) == ("ok", witnesses)


def test_a_locked_file_that_record_leaves_out_is_contradicted() -> None:
    """RECORD lists everything that was installed."""
    assert _rows({PATH: GOOD}, {})[PATH].contradicted_by == ("record",)


def test_a_recorded_skill_file_that_is_neither_locked_nor_there_is_missing() -> None:
    """RECORD says it was installed."""
    path = "pkg/.agents/skills/a/gone.md"
    row = _rows({PATH: GOOD}, {PATH: RIGHT, path: RIGHT})[path]
    assert (row.state, row.contradicted_by) == ("missing", ("record",))


def test_a_recorded_skill_file_that_is_not_locked_is_extra() -> None:
    """Among the skills the lock is the authority."""
    path = "pkg/.agents/skills/a/more.md"
    assert _rows({PATH: GOOD}, {PATH: RIGHT, path: RIGHT}, {path: "file"})[path].state == "extra"


def test_a_recorded_file_beside_the_skills_is_listed() -> None:
    """What else a project puts into the folder is RECORD's to say."""
    path = "pkg/.agents/AGENTS.md"
    assert path not in _rows({PATH: GOOD}, {PATH: RIGHT, path: RIGHT}, {path: "file"})


def test_without_a_record_only_the_bundle_has_extra_files() -> None:
    """Nobody says what else belongs to the package."""
    listed = {"pkg/tool.py": "file", "pkg/.agents/x": "file", PATH: "file"}
    rows = _rows({PATH: GOOD}, None, listed)
    assert {path: row.state for path, row in rows.items()} == {PATH: "ok", "pkg/.agents/x": "extra"}


def test_lock_and_receipt_have_no_rows() -> None:
    """They have reports of their own."""
    path = "pkg/.agents/catalog.lock.json"
    assert path not in _rows({PATH: GOOD}, {PATH: RIGHT, path: RIGHT}, {path: "file"})


def test_rows_are_sorted_by_bytes() -> None:
    """Whatever order the disk has."""
    listed = {f"pkg/.agents/{name}": "file" for name in ("é", "z", "A", "a")}
    assert list(_rows({PATH: GOOD}, None, listed)) == sorted([PATH, *listed], key=str.encode)


@pytest.mark.parametrize(
    ("path", "is_cache"),
    [
        ("a/__pycache__/b.cpython-311.pyc", True),
        ("a/__pycache__/b.cpython-311.opt-2.pyc", True),
        ("a/__pycache__/c.d.cpython-311.pyc", True),
        ("a/__pycache__/b.pyc", False),
        ("a/__pycache__/x.cpython-311.pyc", False),
        ("a/__pycache__/b.cpython-311.so", False),
        ("a/__pycache__/sub/b.cpython-311.pyc", False),
        ("a/b.pyc", False),
        ("__pycache__/b.cpython-311.pyc", False),
    ],
)
def test_byte_code_is_known_by_its_source(path: str, *, is_cache: bool) -> None:
    """In the cache folder beside a file that is listed."""
    assert verification.is_byte_code_of(path, {"a/b.py", "a/c.d.py"}) is is_cache
