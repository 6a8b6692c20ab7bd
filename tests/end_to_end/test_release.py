"""A release can be made of what is committed: two builds, every check, and the digests."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.end_to_end.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.conftest import Dists


def test_a_release_is_built_twice_verified_and_has_the_bytes_of_any_build(
    dists: Dists, tmp_path: Path
) -> None:
    """What `nox -s release -- dist/release` does for a tag, rehearsed with HEAD."""
    command = [sys.executable, "-m", "tests.release", tmp_path / "dist", "--rev", "HEAD"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    sums = (tmp_path / "dist" / "SHA256SUMS").read_text(encoding="utf-8")
    expected = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted([dists.sdist, dists.wheel])
    ]
    assert sorted(sums.splitlines(keepends=True)) == sorted(expected)
