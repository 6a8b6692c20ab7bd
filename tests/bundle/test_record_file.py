"""RECORD as text."""

from __future__ import annotations

import base64
import hashlib

import pytest

from skills_bundle.formats import limits, record_file
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record_file import RecordRow
from tests.installed_builder import recorded_digest

DIGEST = recorded_digest(b"x")


def test_a_row_gives_path_digest_and_size() -> None:
    """The digest comes as hex, to be compared with the lock's."""
    found = record_file.parse(f"pkg/a.md,{DIGEST},1\n".encode())
    assert found.rows == {"pkg/a.md": RecordRow(sha256_hex(b"x"), 1)}
    assert not found.problems


def test_quoted_paths_are_read_as_csv() -> None:
    """A path with a comma is quoted; one with a line separator stays one row."""
    found = record_file.parse(f'"pkg/a,b.md",{DIGEST},1\r\npkg/c\u2028d.md,{DIGEST},1\n'.encode())
    assert list(found.rows) == ["pkg/a,b.md", "pkg/c\u2028d.md"]


@pytest.mark.parametrize("row", ["pkg-1.dist-info/RECORD,,", "pkg/__pycache__/a.pyc,,"])
def test_record_itself_and_byte_code_need_no_digest(row: str) -> None:
    """They are listed without one by every installer."""
    found = record_file.parse(f"{row}\n".encode())
    assert list(found.rows.values()) == [RecordRow(None, None)]
    assert not found.problems


@pytest.mark.parametrize("algorithm", ["sha512", "md5", "blake2b"])
def test_a_digest_of_another_algorithm_is_compared_too(algorithm: str) -> None:
    """Every algorithm that every Python has."""
    raw = hashlib.new(algorithm, b"x").digest()
    text = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    found = record_file.parse(f"pkg/a,{algorithm}={text},1\n".encode())
    assert found.rows == {"pkg/a": RecordRow(raw.hex(), 1, algorithm)}
    assert not found.problems


@pytest.mark.parametrize(
    "row", ["pkg/a.py,,", "pkg/a.py,,1", "pkg/a.py,crc32=AAAA,1", "pkg/a.py,shake_128=AAAA,1"]
)
def test_a_row_without_a_digest_we_can_compare_is_a_problem(row: str) -> None:
    """It would switch off the comparison of that file; that it must be there still counts."""
    found = record_file.parse(f"{row}\n".encode())
    assert list(found.rows) == ["pkg/a.py"]
    assert [problem.message for problem in found.problems] == ["has no digest that can be compared"]


def test_only_byte_code_without_a_digest_is_nobodys_wish() -> None:
    """Whatever else is listed must be there."""
    rows = {"pkg/a.py": RecordRow(None, None), "pkg/a.pyc": RecordRow(None, None)}
    assert list(record_file.RecordFile(rows).wanted("pkg/")) == ["pkg/a.py"]


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
    """What cannot be read is told, and the rest still counts."""
    found = record_file.parse(f"pkg/b,{DIGEST},1\n{row}\n".encode())
    assert list(found.rows) == ["pkg/b"]
    assert [problem.line for problem in found.problems] == [2]


def test_two_rows_that_contradict_each_other_are_a_problem() -> None:
    """The first row stands, and the contradiction is told; an equal repetition is none."""
    first, other = f"pkg/a,{DIGEST},1", f"pkg/a,{recorded_digest(b'y')},1"
    found = record_file.parse(f"{first}\n{first}\n{other}\n".encode())
    assert found.rows == {"pkg/a": RecordRow(sha256_hex(b"x"), 1)}
    assert [problem.line for problem in found.problems] == [3]


@pytest.mark.parametrize("data", [b"\xff\xfe", b'"open', b"pkg/a\0,,\n" + b"x" * 200_000])
def test_bytes_that_are_no_table_are_a_problem(data: bytes) -> None:
    """Never an exception: RECORD is only a second opinion."""
    assert record_file.parse(data).problems


def test_blank_lines_are_nothing() -> None:
    """Some writers leave one at the end."""
    assert record_file.parse(b"\n\n") == record_file.RecordFile({}, ())


def test_rows_can_be_taken_folder_by_folder() -> None:
    """A prefix ends in a slash, so that a longer name is not taken for it."""
    found = record_file.parse(b"pkg/a,,\npkg2/a,,\n")
    assert list(found.below("pkg/")) == ["pkg/a"]


def test_more_rows_than_any_distribution_has_are_not_read() -> None:
    """One problem, and no row that could be believed."""
    found = record_file.parse(b"a,,\n" * (limits.RECORD_MAX_ROWS + 1))
    assert (found.rows, len(found.problems)) == ({}, 1)


def test_problems_beyond_the_limit_are_counted() -> None:
    """A file of nothing but wrong rows is told in a page, and in no more memory."""
    found = record_file.parse(b"a\n" * (limits.RECORD_MAX_PROBLEMS + 7))
    assert len(found.problems) == limits.RECORD_MAX_PROBLEMS + 1
    assert found.problems[-1].message == "and 7 more problems"
