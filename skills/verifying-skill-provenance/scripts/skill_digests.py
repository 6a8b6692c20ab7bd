#!/usr/bin/env python3
"""Digest a folder in the ways that lock files, Go and git do, to compare it with a source.

Needs Python 3.10 or later and nothing else; git is not needed. It reads files and runs none.

Prints
    tree    the id that git gives this folder: compare with `git rev-parse COMMIT:path/of/folder`
    h1      Go's dirhash: SHA-256 over the sorted lines `sha256  path`, as hex
    and with --files one line a file: sha256, git blob id, mode, path

Git knows no empty folders and no modes but `executable`. Line-end conversion in a checkout changes
digests. Links are digested as git does (their target as text) and are reported.

Examples:
    skill_digests.py ~/.agents/skills/some-skill
    skill_digests.py --files skills/some-skill
    skill_digests.py some-skill --expect 4b825dc642cb6eb9a060e54bf8d69288fbee4904

Exit codes: 0 done (and one digest equals --expect); 1 none does; 2 wrong usage or unreadable.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

JUNK = {".git", "__pycache__", ".DS_Store", "Thumbs.db"}


@dataclass(frozen=True)
class Entry:
    """One file or link."""

    path: str
    mode: str
    sha256: str
    blob: str
    link: bool


def git_id(kind: str, body: bytes) -> str:
    """Give git's object id; SHA-1, as git's are."""
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body, usedforsecurity=False).hexdigest()


def entries(folder: Path, left_out: set[str]) -> list[Entry]:
    """Read every file below a folder, sorted by the bytes of its path; raises OSError."""
    found = []
    for root, folders, names in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        folders[:] = [name for name in folders if name not in left_out and name not in links]
        for name in [*names, *links]:
            if name in left_out:
                continue
            path = Path(root, name)
            if path.is_symlink():
                mode, data = "120000", os.fsencode(os.readlink(path))
            else:
                mode = "100755" if path.stat().st_mode & 0o100 else "100644"
                data = path.read_bytes()
            relative = path.relative_to(folder).as_posix()
            digest = hashlib.sha256(data).hexdigest()
            found.append(Entry(relative, mode, digest, git_id("blob", data), path.is_symlink()))
    return sorted(found, key=lambda entry: os.fsencode(entry.path))


def tree_id(found: list[Entry]) -> str:
    """Give the id of git's tree object with exactly these files."""
    rows: list[tuple[bytes, bytes]] = []
    folders: dict[str, list[Entry]] = {}
    for entry in found:
        head, slash, rest = entry.path.partition("/")
        if slash:
            inner = Entry(rest, entry.mode, entry.sha256, entry.blob, entry.link)
            folders.setdefault(head, []).append(inner)
        else:
            name = os.fsencode(head)
            rows.append(
                (name, f"{entry.mode} ".encode() + name + b"\0" + bytes.fromhex(entry.blob))
            )
    for head, inner_entries in folders.items():
        name = os.fsencode(head)
        row = b"40000 " + name + b"\0" + bytes.fromhex(tree_id(inner_entries))
        rows.append((name + b"/", row))
    return git_id("tree", b"".join(row for _, row in sorted(rows)))


def h1(found: list[Entry]) -> str:
    """Give Go's dirhash Hash1 as hex; links do not count."""
    lines = [f"{entry.sha256}  {entry.path}\n" for entry in found if not entry.link]
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Digest a folder in the ways that lock files, Go and git do."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", action="store_true", help="also print each file's digests")
    parser.add_argument("--expect", metavar="HEX", help="fail unless one of the digests is this")
    parser.add_argument("--with-junk", action="store_true", help=f"keep {', '.join(sorted(JUNK))}")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    try:
        found = entries(options.folder, {".git"} if options.with_junk else JUNK)
    except OSError as error:
        parser.error(str(error))
    print(f"tree {tree_id(found)}\nh1   {h1(found)}\n     {len(found)} files")
    for entry in found:
        if entry.link:
            print(f"link {entry.path}: its target is not part of the folder")
    if options.files:
        for entry in found:
            print(f"{entry.sha256}  {entry.blob}  {entry.mode}  {entry.path}")
    if options.expect is None:
        return 0
    digests = {tree_id(found), h1(found), *(entry.sha256 for entry in found)}
    same = options.expect.lower() in digests
    print("as expected" if same else f"NOT as expected: no digest here is {options.expect}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
