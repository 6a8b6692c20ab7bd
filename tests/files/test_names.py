"""Names are bytes on disk and UTF-8 for us, under every locale."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skills_bundle.files import paths as file_names

if TYPE_CHECKING:
    from pathlib import Path

LOCALES = [
    {},
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "en_US.ISO-8859-1", "PYTHONUTF8": "0"},
]


@pytest.mark.parametrize("locale", LOCALES)
def test_a_name_is_the_same_under_every_locale(tmp_path: Path, locale: dict[str, str]) -> None:
    """Shown in a process that has that locale; the way back finds the file."""
    (tmp_path / "café").touch()
    script = (
        "import os, sys\n"
        "from skills_bundle.files.paths import from_disk, to_disk\n"
        "name = from_disk(os.listdir(sys.argv[1])[0])\n"
        "print(ascii(name), os.path.exists(os.path.join(sys.argv[1], to_disk(name))))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    environment = {**os.environ, **locale}
    said = subprocess.run(command, check=True, capture_output=True, env=environment).stdout
    assert said.decode().split() == [ascii("café"), "True"]


def test_bytes_that_are_not_utf8_come_back() -> None:
    """As lone surrogates, which is Python's own way."""
    name = b"bad\xff".decode("utf-8", "surrogateescape")
    assert file_names.from_disk(file_names.to_disk(name)) == name


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("café", "café"),
        ("a\udcff", "a\\xff"),
        ("\ud800", "\\ud800"),
        ("\ud800\udcff", "\\ud800\\udcff"),
    ],
)
def test_what_is_shown_can_be_encoded(text: str, written: str) -> None:
    """Bytes that are not UTF-8 as their escapes, other surrogates as theirs."""
    assert file_names.shown(text) == written
