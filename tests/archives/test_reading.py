"""Archives on disk: which are opened, and how others are reported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives import limits
from skills_bundle.archives.model import Member, write_sdist, write_wheel
from skills_bundle.archives.reading import open_archive
from skills_bundle.errors import UnreadableArchiveError

if TYPE_CHECKING:
    from pathlib import Path

WHEEL = write_wheel({"acme/__init__.py": Member(b"")}, "acme-1.0.dist-info", "stored")
SDIST = write_sdist({"PKG-INFO": Member(b"Name: acme\n")}, "acme-1.0")


def _codes(path: Path) -> list[str]:
    with pytest.raises(UnreadableArchiveError) as caught:
        open_archive(path)
    assert caught.value.exit_code == 3
    return [problem.code for problem in caught.value.problems]


def test_the_file_name_determines_the_kind(tmp_path: Path) -> None:
    """A wheel is called `*.whl`, an sdist `*.tar.gz`."""
    (tmp_path / "acme-1.0-py3-none-any.whl").write_bytes(WHEEL)
    (tmp_path / "acme-1.0.tar.gz").write_bytes(SDIST)
    kinds = [open_archive(path).kind for path in sorted(tmp_path.iterdir())]
    assert kinds == ["wheel", "sdist"]


def test_another_name_is_neither(tmp_path: Path) -> None:
    """Nothing is guessed from the bytes."""
    (tmp_path / "acme.zip").write_bytes(WHEEL)
    assert _codes(tmp_path / "acme.zip") == ["archive_kind"]


def test_a_command_for_wheels_refuses_an_sdist(tmp_path: Path) -> None:
    """A command for one kind does not take the other."""
    (tmp_path / "acme-1.0.tar.gz").write_bytes(SDIST)
    with pytest.raises(
        UnreadableArchiveError, match=r"is not called \*\.whl; use `skills-bundle verify-sdist`"
    ):
        open_archive(tmp_path / "acme-1.0.tar.gz", kind="wheel")


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    """The system's own message is used."""
    assert _codes(tmp_path / "acme-1.0-py3-none-any.whl") == ["unreadable"]


def test_a_folder_is_not_an_archive(tmp_path: Path) -> None:
    """Whatever its name."""
    (tmp_path / "a.whl").mkdir()
    assert _codes(tmp_path / "a.whl") == ["unreadable"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has named pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """It is not a regular file."""
    os.mkfifo(tmp_path / "a.whl")
    assert _codes(tmp_path / "a.whl") == ["not_regular"]


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    """A sparse file of that size is made at once, and refused as soon."""
    with (tmp_path / "a.whl").open("wb") as file:
        file.truncate(limits.ARCHIVE_MAX_BYTES + 1)
    assert _codes(tmp_path / "a.whl") == ["archive_too_large"]
