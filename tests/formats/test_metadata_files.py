"""METADATA, entry_points.txt and RECORD, read as installers read them or not at all."""

from __future__ import annotations

import base64
import hashlib

import pytest

from skills_bundle.formats import limits
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.metadata_files import (
    RecordFile,
    RecordRow,
    parse_entry_points,
    parse_metadata,
    parse_record,
)
from tests.installed_builder import recorded_digest

DIGEST = recorded_digest(b"x")


def test_field_names_ignore_case_and_values_may_be_folded() -> None:
    """METADATA is read as pip reads it: as an e-mail."""
    head = parse_metadata(
        b"Name: acme\nREQUIRES-dist: one\n  @ two\nRequires-Dist: three\n\nName: body\n"
    )
    assert head.fields == {"name": ("acme",), "requires-dist": ("one @ two", "three")}
    assert (head.first("name"), head.first("version"), head.problems) == ("acme", None, ())


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_cr_and_lf_end_a_line(end: str) -> None:
    """A form feed in a licence does not hide the next field."""
    head = parse_metadata(f"License: a{end}{end}\nRequires-Dist: one\n".encode())
    assert head.fields["requires-dist"] == ("one",)


@pytest.mark.parametrize(
    "data",
    [
        b"Name: a\nno field\nVersion: 1\n",
        b"Requires-Dist : one\n",
        b" Name: a\n",
        b"Name: a\rVersion: 1\n",
        b"Name: \xff\n",
    ],
)
def test_metadata_that_tools_read_differently_has_a_problem(data: bytes) -> None:
    """Some tools stop at such a line, and some continue."""
    assert parse_metadata(data).problems


def test_a_repeated_field_is_read_in_linear_time() -> None:
    """400,000 values take no noticeable time."""
    head = parse_metadata(b"Name: a\n" * 400_000)
    assert len(head.fields["name"]) == 400_000


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_groups_and_names_are_read(end: str) -> None:
    """The form that build backends write."""
    text = end.join(["[console_scripts]", "run = acme.tool:main [all]", "", "[a.b]", "c=d", ""])
    expected = {"console_scripts": {"run": "acme.tool:main [all]"}, "a.b": {"c": "d"}}
    assert parse_entry_points(text.encode()) == expected


def test_an_empty_entry_points_file_declares_nothing() -> None:
    """It is valid."""
    assert parse_entry_points(b"") == {}


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nb = c\n# comment\u2028evil = os:abort\n",
        "[a]\nb = c\n# comment\x0cevil = os:abort\n",
        "[a]\nb = c\revil = os:abort\n",
        "[a]\nb = c\n; comment\n",
        "[a]\nb = c\n evil = os:abort\n",
        "[a]\nb = c\nb = d\n",
        "[a]\nb = c\n[a]\nd = e\n",
        "[a] # b = c\n",
        "b = c\n",
        "[a]\nb\n",
        "[a]\n\udcff = c\n",
    ],
)
def test_entry_points_that_tools_read_differently_are_refused(text: str) -> None:
    """One tool would find an entry point where another reads a comment."""
    assert parse_entry_points(text.encode(errors="surrogateescape")) is None


def test_a_row_has_path_digest_and_size() -> None:
    """The digest is hex, like the digests of the lock."""
    found = parse_record(f"pkg/a.md,{DIGEST},1\n".encode())
    assert found.rows == {"pkg/a.md": RecordRow(sha256_hex(b"x"), 1)}
    assert not found.problems


def test_quoted_paths_are_read_as_csv() -> None:
    """A path with a comma is quoted; one with a line separator stays one row."""
    found = parse_record(f'"pkg/a,b.md",{DIGEST},1\r\npkg/c\u2028d.md,{DIGEST},1\n'.encode())
    assert list(found.rows) == ["pkg/a,b.md", "pkg/c\u2028d.md"]


@pytest.mark.parametrize("row", ["pkg-1.dist-info/RECORD,,", "pkg/__pycache__/a.pyc,,"])
def test_record_itself_and_bytecode_need_no_digest(row: str) -> None:
    """Installers list them without one."""
    found = parse_record(f"{row}\n".encode())
    assert list(found.rows.values()) == [RecordRow(None, None)]
    assert not found.problems


@pytest.mark.parametrize("algorithm", ["sha512", "md5", "blake2b"])
def test_a_digest_of_another_algorithm_is_compared_too(algorithm: str) -> None:
    """Every algorithm that `hashlib` guarantees."""
    raw = hashlib.new(algorithm, b"x").digest()
    text = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    found = parse_record(f"pkg/a,{algorithm}={text},1\n".encode())
    assert found.rows == {"pkg/a": RecordRow(raw.hex(), 1, algorithm)}
    assert not found.problems


@pytest.mark.parametrize(
    "row", ["pkg/a.py,,", "pkg/a.py,,1", "pkg/a.py,crc32=AAAA,1", "pkg/a.py,shake_128=AAAA,1"]
)
def test_a_row_without_a_digest_we_can_compare_is_a_problem(row: str) -> None:
    """It exempts the file from comparison; the file must still exist."""
    found = parse_record(f"{row}\n".encode())
    assert list(found.rows) == ["pkg/a.py"]
    assert [problem.message for problem in found.problems] == ["has no digest that can be compared"]


def test_only_bytecode_without_a_digest_may_be_missing() -> None:
    """Every other listed file must exist."""
    rows = {"pkg/a.py": RecordRow(None, None), "pkg/a.pyc": RecordRow(None, None)}
    assert list(RecordFile(rows).wanted("pkg/")) == ["pkg/a.py"]


@pytest.mark.parametrize(
    "row",
    [
        "pkg/a",
        "pkg/a,sha256=,1",
        "pkg/a,sha512=AAAA,1",
        "pkg/a,md5=A,1",
        "pkg/a,sha256,1",
        f"pkg/a,{DIGEST}=,1",
        f"pkg/a,{DIGEST[:-1]}é,1",
        f"pkg/a,{DIGEST[:-1]},1",
        f"pkg/a,{DIGEST[:-1]}C,1",
        f"pkg/a,{DIGEST},one",
        f"pkg/a,{DIGEST},-1",
        f"pkg/a,{DIGEST},1,",
        f",{DIGEST},1",
    ],
)
def test_a_row_of_another_form_is_a_problem_with_its_line(row: str) -> None:
    """The other rows still count."""
    found = parse_record(f"pkg/b,{DIGEST},1\n{row}\n".encode())
    assert list(found.rows) == ["pkg/b"]
    assert [problem.line for problem in found.problems] == [2]


def test_two_rows_that_contradict_each_other_are_a_problem() -> None:
    """The first row counts; an equal repetition is not a contradiction."""
    first, other = f"pkg/a,{DIGEST},1", f"pkg/a,{recorded_digest(b'y')},1"
    found = parse_record(f"{first}\n{first}\n{other}\n".encode())
    assert found.rows == {"pkg/a": RecordRow(sha256_hex(b"x"), 1)}
    assert [problem.line for problem in found.problems] == [3]


@pytest.mark.parametrize("data", [b"\xff\xfe", b'"open', b"pkg/a\0,,\n" + b"x" * 200_000])
def test_a_record_that_is_not_csv_has_a_problem(data: bytes) -> None:
    """It is never an exception."""
    assert parse_record(data).problems


def test_blank_lines_are_ignored() -> None:
    """Some writers leave one at the end."""
    assert parse_record(b"\n\n") == RecordFile({}, ())


def test_rows_can_be_selected_by_folder() -> None:
    """A folder whose name only starts alike is not included."""
    found = parse_record(b"pkg/a,,\npkg2/a,,\n")
    assert list(found.below("pkg/")) == ["pkg/a"]


def test_a_record_with_too_many_rows_is_not_read() -> None:
    """It has one problem and no rows."""
    found = parse_record(b"a,,\n" * (limits.RECORD_MAX_ROWS + 1))
    assert (found.rows, len(found.problems)) == ({}, 1)


def test_problems_beyond_the_limit_are_counted() -> None:
    """A file of wrong rows does not fill the report."""
    found = parse_record(b"a\n" * (limits.RECORD_MAX_PROBLEMS + 7))
    assert len(found.problems) == limits.RECORD_MAX_PROBLEMS + 1
    assert found.problems[-1].message == "and 7 more problems"
