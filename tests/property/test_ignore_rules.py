"""Git's own word on random repositories: what it ignores we ignore, and nothing else."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from skills_bundle.git.checkout import open_checkout
from tests.builders import GIT_ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

NAMES: Final = [
    "a",
    "b",
    "c",
    "E",
    "d.md",
    "b.txt",
    "ab",
    "a b",
    "a ",
    "é",
    "[b]",
    "b-c",
    "!a",
    "#a",
]
FOLDERS: Final = [*NAMES[:4], "ab", "é"]
PLACES: Final = [
    ".gitignore",
    "a/.gitignore",
    "a/b/.gitignore",
    "b/.gitignore",
    ".git/info/exclude",
]
PIECES: Final = [
    *("a", "b", "c", "E", "e", "*", "**", "?", "/", "/", "!", "\\", " ", ".md", ".txt", "é", "#"),
    *("[ab]", "[!a]", "[^b]", "[a-c]", "[c-a]", "[E]", "[A-F]", "[!e]", "[]a]", "\r"),
    *("[[:alpha:]]", "[[:upper:]b]", "[[:no:]]"),
    *("[", "]", "[\\]b]", "[a-]", "[--b]", "[[a]", "[[:]", "**/", "/**", "-", "\\ ", "a/", "/b"),
]
COMMON: Final = [
    *("*", "!*/", "!*.md", "*.md", "/a", "a/", "!a/", "/*", "!/a", "a/**", "**/b", "!b", "a/*/c"),
    *("!a/b", "**/", "*/", "!*", "a**/b", "**a", "a/**/b", "**/a/**"),
]


def ignore_file(chance: random.Random) -> str:
    """Give a few lines: known shapes, and pieces put together at random."""
    lines = [
        chance.choice(COMMON)
        if chance.random() < 0.5
        else "".join(chance.choices(PIECES, k=chance.randint(1, 4)))
        for _ in range(chance.randint(1, 4))
    ]
    return "\n".join(lines) + chance.choice(["", "\n"])


def build(top: Path, chance: random.Random) -> list[str]:
    """Make files, ignore files and a few tracked files; give the files' paths."""
    for _ in range(25):
        place = top.joinpath(*chance.choices(FOLDERS, k=chance.randint(0, 3)), chance.choice(NAMES))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        except OSError:  # a file is in the way of a folder
            continue
    files = [path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()]
    files = [path for path in files if not path.startswith(".git/")]
    tracked = [path for path in files if chance.random() < 0.1]
    run(top, "add", "--force", "--", *tracked)
    for name in PLACES:
        if (top / name).parent.is_dir() and chance.random() < 0.6:
            (top / name).write_bytes(ignore_file(chance).encode())
    return files


def run(top: Path, *arguments: str) -> bytes:
    """Run git with quoting of paths off."""
    command = ["git", "-C", str(top), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=GIT_ENVIRONMENT).stdout


@pytest.mark.parametrize("seed", range(20))
def test_what_git_ignores_is_ignored_and_nothing_else(tmp_path: Path, seed: int) -> None:
    """Every file of a random repository, tracked ones among them."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    top = tmp_path / "top"
    top.mkdir()
    run(top, "init", "--quiet")
    files = build(top, chance)
    if chance.random() < 0.2:
        run(top, "config", "core.ignoreCase", "true")
    listing = run(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    seen = {os.fsdecode(path) for path in listing.split(b"\0")}
    checkout = open_checkout(top)
    ours = {path for path in files if not checkout.ignored(path)}
    assert ours == seen & set(files)
    shutil.rmtree(top)
