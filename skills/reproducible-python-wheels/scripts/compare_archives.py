#!/usr/bin/env python3
"""Compare two wheels or two sdists byte for byte, and say why they differ.

Needs Python 3.10 or later and nothing else. Nothing is unpacked to disk.

Examples:
    compare_archives.py first/demo-1.0-py3-none-any.whl second/demo-1.0-py3-none-any.whl
    compare_archives.py first/demo-1.0.tar.gz second/demo-1.0.tar.gz

Exit codes: 0 identical; 1 the content differs; 2 wrong usage or unreadable;
3 the same content in a different archive (order, dates, modes, compression).
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import hashlib
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIFF_LINES = 12
"""How many lines of one text difference are shown."""
ENVELOPE_EXPLAINED = {
    "date": "file times or the clock leaked in: set SOURCE_DATE_EPOCH",
    "mode": "the umask or lost x bits leaked in: fix modes before building",
    "system": "built on another operating system",
    "compression": "another compression method or level",
    "packed size": "another zlib or level: the same bytes, packed differently",
    "flags": "another zip writer or another way of writing (streamed or not)",
    "extra": "extra fields of another zip writer",
    "owner": "user and group of the builder leaked in",
    "kind": "a link here, a file there",
    "pax": "tar headers of another writer, often sub-second times",
}


@dataclass(frozen=True)
class Member:
    """One entry of an archive: its bytes, and all that is written around them."""

    name: str
    data: bytes
    envelope: dict[str, Any]


@dataclass(frozen=True)
class Archive:
    """Everything that two archives can differ in."""

    path: Path
    raw: bytes
    members: list[Member]
    outside: dict[str, Any]

    @property
    def by_name(self) -> dict[str, Member]:
        """Give the members by name; of equal names the last, as installers do."""
        return {member.name: member for member in self.members}


def read(path: Path) -> Archive:
    """Read a zip or a (packed) tar whole; raises ValueError for anything else."""
    raw = path.read_bytes()
    if zipfile.is_zipfile(path):
        return read_zip(path, raw)
    try:
        return read_tar(path, raw)
    except tarfile.TarError as error:
        raise ValueError(f"{path}: neither a zip nor a tar ({error})") from error


def read_zip(path: Path, raw: bytes) -> Archive:
    """Read a wheel."""
    members = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            envelope = {
                "date": info.date_time,
                "mode": oct(info.external_attr >> 16),
                "system": info.create_system,
                "compression": info.compress_type,
                "packed size": info.compress_size,
                "flags": info.flag_bits,
                "extra": info.extra.hex(),
            }
            members.append(Member(info.filename, archive.read(info), envelope))
        return Archive(path, raw, members, {"comment": archive.comment.hex()})


def read_tar(path: Path, raw: bytes) -> Archive:
    """Read an sdist; the gzip header is looked at too, because it holds a time and a name."""
    outside: dict[str, Any] = {}
    if raw[:2] == b"\x1f\x8b":
        outside = {
            "gzip time": int.from_bytes(raw[4:8], "little"),
            "gzip level hint": raw[8],
            "gzip system": raw[9],
            "gzip name": bool(raw[3] & 8),
            "tar bytes": hashlib.sha256(gzip.decompress(raw)).hexdigest()[:16],
        }
    members = []
    with tarfile.open(path) as archive:
        for info in archive.getmembers():
            handle = archive.extractfile(info) if info.isfile() else None
            data = b"" if handle is None else handle.read()
            envelope = {
                "date": info.mtime,
                "mode": oct(info.mode),
                "owner": (info.uid, info.gid, info.uname, info.gname),
                "kind": (info.type.decode("latin-1"), info.linkname),
                "pax": tuple(sorted(info.pax_headers.items())),
            }
            members.append(Member(info.name, data, envelope))
    return Archive(path, raw, members, outside)


def content_differences(first: Archive, second: Archive) -> list[str]:
    """Say which files are missing or have other bytes, with a short difference for text."""
    a, b = first.by_name, second.by_name
    found = [f"only in the first:  {name}" for name in sorted(a.keys() - b.keys())]
    found += [f"only in the second: {name}" for name in sorted(b.keys() - a.keys())]
    for name in sorted(a.keys() & b.keys()):
        if a[name].data != b[name].data:
            sizes = f"{len(a[name].data)} and {len(b[name].data)} bytes"
            found.append(f"other bytes: {name} ({sizes})")
            found += text_difference(a[name].data, b[name].data)
    return found


def text_difference(first: bytes, second: bytes) -> list[str]:
    """Show the first lines of a difference, if both sides are text."""
    try:
        texts = [data.decode("utf-8").splitlines() for data in (first, second)]
    except UnicodeDecodeError:
        return ["    (not text)"]
    if texts[0] == texts[1]:
        return ["    (line ends only)"]
    lines = [line for line in difflib.unified_diff(*texts, lineterm="", n=0) if line[:3] != "@@ "]
    shown = [f"    {line}" for line in lines[2 : 2 + DIFF_LINES]]
    hidden = len(lines) - 2 - len(shown)
    return [*shown, *([f"    ({hidden} more lines)"] if hidden > 0 else [])]


def envelope_differences(first: Archive, second: Archive) -> list[str]:
    """Say what differs around the bytes, each cause once with an example."""
    found = []
    names = [[member.name for member in archive.members] for archive in (first, second)]
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        found.append("order of members: the file system's order leaked in: sort before writing")
    for key in sorted(first.outside.keys() | second.outside.keys()):
        ours, theirs = first.outside.get(key), second.outside.get(key)
        if ours != theirs:
            found.append(f"{key}: {ours} and {theirs}")
    a, b = first.by_name, second.by_name
    both = [name for name in a if name in b]
    for key, why in ENVELOPE_EXPLAINED.items():
        other = [n for n in both if a[n].envelope.get(key) != b[n].envelope.get(key)]
        if key == "packed size":
            other = [name for name in other if a[name].data == b[name].data]
        if other:
            pair = f"{a[other[0]].envelope.get(key)} and {b[other[0]].envelope.get(key)}"
            found.append(f"{key} of {len(other)} members, e.g. {other[0]}: {pair}")
            found.append(f"    {why}")
    return found


def duplicates(archive: Archive) -> list[str]:
    """Name members that occur twice: legal in both formats, and never meant."""
    names = [member.name for member in archive.members]
    return sorted({name for name in names if names.count(name) > 1})


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Compare two wheels or sdists, and say why they differ.",
        epilog="Exit codes: 0 identical; 1 content differs; 2 usage; 3 only the archive differs.",
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    options = parser.parse_args(arguments)
    try:
        first, second = read(options.first), read(options.second)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"cannot compare: {error}", file=sys.stderr)
        return 2
    for archive in (first, second):
        print(f"sha256 {hashlib.sha256(archive.raw).hexdigest()}  {archive.path}")
        for name in duplicates(archive):
            print(f"  occurs twice: {name}")
    if first.raw == second.raw:
        print(f"identical: {len(first.raw)} bytes, {len(first.members)} members")
        return 0
    content = content_differences(first, second)
    envelope = envelope_differences(first, second)
    for title, lines in (("content", content), ("archive", envelope)):
        if lines:
            print(f"\n{title}:")
            print("\n".join(f"  {line}" for line in lines))
    if content:
        return 1
    if not envelope:
        print("\nsame members, same fields: padding, local headers or trailing bytes differ")
    print("\nsame content, different archive")
    return 3


if __name__ == "__main__":
    sys.exit(main())
