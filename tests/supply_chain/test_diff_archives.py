"""How two archives differ, from archives that differ in one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skills_bundle.archives.canonical import write_sdist, write_wheel
from skills_bundle.archives.model import Archive, Entry, Member
from skills_bundle.archives.reading import read_sdist, read_wheel
from skills_bundle.supply_chain.diff import Change, compare_archives

MEMBERS = {"acme/a.py": Member(b"a\n"), "acme/run.sh": Member(b"r\n", executable=True)}


def _wheel(members: dict[str, Member]) -> Archive:
    return read_wheel(write_wheel(members, "acme-1.0.dist-info", "stored"), "acme-1.0.whl")


def test_the_same_bytes_are_identical() -> None:
    """Nothing is found then."""
    found = compare_archives(_wheel(MEMBERS), _wheel(MEMBERS))
    assert (found.identical, found.same_content) == (True, True)
    assert (found.members, found.wrapping, found.entries, found.folders) == ((), (), (), ())


@pytest.mark.parametrize(
    ("path", "member", "kinds"),
    [
        ("acme/a.py", Member(b"b\n"), ("changed",)),
        ("acme/a.py", Member(b"a\n", executable=True), ("executable",)),
        ("acme/a.py", Member(b"b\n", executable=True), ("changed", "executable")),
        ("acme/new.py", Member(b""), ("added",)),
    ],
)
def test_a_member_that_differs_is_named_with_its_kinds(
    path: str, member: Member, kinds: tuple[str, ...]
) -> None:
    """RECORD, which names the digests, differs with it where bytes do."""
    found = compare_archives(_wheel(MEMBERS), _wheel({**MEMBERS, path: member}))
    assert (found.identical, found.same_content) == (False, False)
    assert {row.path: row.kinds for row in found.members}[path] == kinds


def test_what_only_the_first_holds_was_removed() -> None:
    """With size and digest on one side alone."""
    found = compare_archives(_wheel(MEMBERS), _wheel({"acme/a.py": MEMBERS["acme/a.py"]}))
    row = next(row for row in found.members if row.path == "acme/run.sh")
    assert (row.kinds, row.before_size, row.after_size) == (("removed",), 2, None)


def test_the_same_content_kept_otherwise_is_told_apart() -> None:
    """Order, dates and folders are nobody's content."""
    one = replace(
        _wheel(MEMBERS),
        entries=(
            Entry(path="acme/a.py", facts={"date": "1980"}),
            Entry(path="acme/run.sh", facts={}),
        ),
    )
    other = replace(
        one,
        sha256="0" * 64,
        entries=(
            Entry(path="acme/", facts={}),
            Entry(path="acme/run.sh", facts={}),
            Entry(path="acme/a.py", facts={"date": "2026"}),
        ),
    )
    found = compare_archives(one, other)
    assert (found.identical, found.same_content) == (False, True)
    assert found.wrapping == (Change(name="order", before="acme/a.py", after="acme/run.sh"),)
    assert [(row.path, row.changes) for row in found.entries] == [
        ("acme/a.py", (Change(name="date", before="1980", after="2026"),))
    ]
    assert found.folders == (Change(name="acme/", before=None, after="listed"),)


def test_another_top_folder_is_another_content_with_the_same_members() -> None:
    """An sdist of another name or version unpacks elsewhere."""
    one, other = (
        read_sdist(write_sdist(MEMBERS, top), f"{top}.tar.gz") for top in ("acme-1.0", "acme-1.1")
    )
    found = compare_archives(one, other)
    assert (found.same_content, found.members, found.folders) == (False, (), ())
    assert Change(name="top folder", before="acme-1.0", after="acme-1.1") in found.wrapping
