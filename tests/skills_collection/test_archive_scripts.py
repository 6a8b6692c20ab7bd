"""Tests of the scripts of reproducible-python-wheels that read archives."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.skills_collection.collection import Ran, run

if TYPE_CHECKING:
    from pathlib import Path

COMPARE: Final = "reproducible-python-wheels/compare_archives.py"
NORMALIZE: Final = "reproducible-python-wheels/normalize_sdist.py"
FILES: Final = {"demo/a.py": b"a = 1\n", "demo/b.py": b"b = 2\n"}


def _wheel(path: Path, files: dict[str, bytes], **fields: Any) -> Path:
    """Write a zip; every field is set on every member."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100644 << 16
            for key, value in fields.items():
                setattr(info, key, value)
            archive.writestr(info, data)
    return path


def _sdist(path: Path, files: dict[str, bytes], mtime: float, **fields: Any) -> Path:
    """Write a tar.gz as a careless backend would, with the clock in it."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), mtime, 0o644
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(inner.getvalue(), mtime=mtime))
    return path


def _compare_wheels(folder: Path, files: dict[str, bytes], **fields: Any) -> Ran:
    """Compare a plain wheel with one that has other files or fields."""
    first = _wheel(folder / "first.whl", FILES)
    return run(COMPARE, first, _wheel(folder / "second.whl", files, **fields))


def test_equal_bytes_are_identical(tmp_path: Path) -> None:
    """Exit code 0."""
    ran = _compare_wheels(tmp_path, FILES)
    assert (ran.code, "identical" in ran.stdout) == (0, True)


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("date_time", (2020, 1, 2, 3, 4, 6), "date of 2 members"),
        ("external_attr", 0o100600 << 16, "mode of 2 members, e.g. demo/a.py: 0o100644"),
        ("create_system", 0, "system of 2 members"),
        ("compress_type", zipfile.ZIP_DEFLATED, "compression of 2 members"),
        ("extra", b"\xff\xff\x00\x00", "extra of 2 members"),
    ],
)
def test_what_differs_around_the_bytes_is_named(
    field: str, value: object, cause: str, tmp_path: Path
) -> None:
    """The content is the same, so the exit code is 3."""
    ran = _compare_wheels(tmp_path, FILES, **{field: value})
    assert (ran.code, cause in ran.stdout) == (3, True), ran.stdout


def test_another_order_is_named(tmp_path: Path) -> None:
    """A folder's own order leaked in."""
    ran = _compare_wheels(tmp_path, dict(reversed(FILES.items())))
    assert (ran.code, "order of members" in ran.stdout) == (3, True)


def test_another_line_is_shown(tmp_path: Path) -> None:
    """Content differs: exit code 1, with the difference."""
    ran = _compare_wheels(tmp_path, {**FILES, "demo/b.py": b"b = 3\n"})
    assert ran.code == 1
    assert [line.strip() for line in ran.stdout.splitlines() if "b = " in line] == [
        "-b = 2",
        "+b = 3",
    ]


def test_a_file_on_one_side_is_named(tmp_path: Path) -> None:
    """An untracked file shipped."""
    ran = _compare_wheels(tmp_path, {**FILES, "demo/secret.txt": b""})
    assert (ran.code, "only in the second: demo/secret.txt" in ran.stdout) == (1, True)


def test_line_ends_alone_are_called_that(tmp_path: Path) -> None:
    """The difference of one checkout on Windows."""
    ran = _compare_wheels(tmp_path, {**FILES, "demo/b.py": b"b = 2\r\n"})
    assert "(line ends only)" in ran.stdout


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Exit code 2."""
    (tmp_path / "text").write_bytes(b"not an archive")
    assert run(COMPARE, tmp_path / "text", tmp_path / "text").code == 2


def test_the_clock_in_an_sdist_is_named(tmp_path: Path) -> None:
    """In the members and in the gzip header."""
    first = _sdist(tmp_path / "1.tar.gz", FILES, 1_000_000_000)
    ran = run(COMPARE, first, _sdist(tmp_path / "2.tar.gz", FILES, 1_000_000_001))
    assert (ran.code, "gzip time" in ran.stdout, "date of 2" in ran.stdout) == (3, True, True)


def test_normalized_sdists_of_the_same_files_are_identical(tmp_path: Path) -> None:
    """Whatever clock, order, owner and umask they were built under."""
    first = _sdist(tmp_path / "1.tar.gz", FILES, 1_000_000_000)
    other = dict(reversed(FILES.items()))
    second = _sdist(tmp_path / "2.tar.gz", other, 5.5, uid=1000, uname="ann", mode=0o600)
    codes = [run(NORMALIZE, path, "--epoch", "1700000000").code for path in (first, second)]
    assert (codes, first.read_bytes() == second.read_bytes()) == ([0, 0], True)


def test_normalizing_keeps_names_contents_and_the_x_bit(tmp_path: Path) -> None:
    """Only what is around them changes."""
    path = _sdist(tmp_path / "1.tar.gz", FILES, 1, mode=0o700)
    run(NORMALIZE, path, "--epoch", "7")
    with tarfile.open(path) as archive:
        rows = [(m.name, m.mode, m.mtime, m.size) for m in archive.getmembers()]
    assert rows == [("demo/a.py", 0o755, 7, 6), ("demo/b.py", 0o755, 7, 6)]


def test_normalizing_refuses_a_link(tmp_path: Path) -> None:
    """And leaves the file as it was."""
    path = _sdist(tmp_path / "1.tar.gz", {"demo/a": b""}, 1, type=tarfile.SYMTYPE, linkname="/x")
    before = path.read_bytes()
    ran = run(NORMALIZE, path, "--epoch", "7")
    assert (ran.code, path.read_bytes() == before) == (2, True)
