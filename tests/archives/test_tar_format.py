"""Tars that two tools could read differently are refused, with member and cause."""

from __future__ import annotations

import gzip
import io
import shutil
import struct
import subprocess
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives import limits
from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import read_sdist
from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from tests.archives import hostile
from tests.archives.hostile import TarMember, long_name, pax, pax_record

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

NAME = "acme-1.0.tar.gz"
A = "acme-1.0/a.py"
PLAIN = hostile.sdist(TarMember())
GNU = b"ustar  \0"


def problems(data: bytes) -> list[tuple[str, str]]:
    """Return code and place of every problem of an sdist."""
    with pytest.raises(UnsafeArchiveError) as caught:
        read_sdist(data, NAME)
    return [(problem.code, problem.path or "") for problem in caught.value.problems]


def test_the_plain_tar_is_read() -> None:
    """What follows starts from a valid archive."""
    found = read_sdist(PLAIN, NAME)
    assert (found.top, found.members) == ("acme-1.0", {"a.py": Member(b"x = 1\n")})


WRAPPING = {
    "second stream": (PLAIN + PLAIN, "gzip_members"),
    "bytes behind": (PLAIN + b"more", "gzip_trailing"),
    "zeros behind": (PLAIN + bytes(8), "gzip_trailing"),
    "wrong CRC": (PLAIN[:-8] + b"????" + PLAIN[-4:], "gzip_crc"),
    "wrong size": (PLAIN[:-4] + b"????", "gzip_crc"),
    "no CRC": (PLAIN[:-8], "gzip_crc"),
    "cut short": (PLAIN[:-20], "gzip_data"),
    "head alone": (PLAIN[:10], "gzip_data"),
    "not deflated": (PLAIN[:10] + b"\xff" * 20, "gzip_data"),
    "comment": (PLAIN[:3] + b"\x10" + PLAIN[4:10] + b"c\0" + PLAIN[10:], "gzip_header"),
    "reserved flag": (PLAIN[:3] + b"\x80" + PLAIN[4:], "gzip_header"),
    "name without end": (PLAIN[:3] + b"\x08" + PLAIN[4:10] + b"acme", "gzip_data"),
}


@pytest.mark.parametrize("case", WRAPPING)
def test_more_or_less_than_one_gzip_stream_is_refused(case: str) -> None:
    """Some readers go on where others stop."""
    data, code = WRAPPING[case]
    assert code in {row[0] for row in problems(data)}


def test_a_bomb_is_unpacked_no_further_than_the_limit() -> None:
    """Thirty-two megabytes of zeros take thirty-two kilobytes."""
    data = gzip.compress(bytes(2 * limits.ARCHIVE_RATIO_FREE_BYTES), mtime=0)
    assert problems(data) == [("archive_bomb", NAME)]


MEMBERS: dict[str, tuple[tuple[TarMember, ...], str, str]] = {
    "hard link": ((TarMember(kind=b"1", data=b"", link=b"x"),), "special_member", A),
    "symbolic link": ((TarMember(kind=b"2", data=b"", link=b"x"),), "special_member", A),
    "device": ((TarMember(kind=b"3", data=b""),), "special_member", A),
    "block device": ((TarMember(kind=b"4", data=b""),), "special_member", A),
    "pipe": ((TarMember(kind=b"6", data=b""),), "special_member", A),
    "sparse": ((TarMember(kind=b"S"),), "special_member", A),
    "long link": ((TarMember(kind=b"K"), TarMember()), "special_member", A),
    "unknown kind": ((TarMember(kind=b"Z"),), "special_member", A),
    "target of a plain file": ((TarMember(link=b"x"),), "special_member", A),
    "folder with bytes": ((TarMember(kind=b"5"),), "special_member", A),
    "file named like a folder": (
        (TarMember(name=b"acme-1.0/a/"),),
        "special_member",
        "acme-1.0/a/",
    ),
    "no format": ((TarMember(magic=b""),), "tar_header", A),
    "wrong checksum": ((TarMember(checksum=b"000000\0 "),), "tar_header", A),
    "size that is not a number": ((TarMember(size=b"00000000xyz\0"),), "tar_header", A),
    "device that is not a number": ((TarMember(device=b"sda"),), "tar_header", A),
    "mode that is not a number": ((TarMember(mode=b"rw-r--r-"),), "tar_header", A),
    "size beyond the end": ((TarMember(size=b"00000777777\0"),), "tar_size", A),
    "negative size": ((TarMember(size=b"\xff" * 12),), "tar_size", A),
    "bytes behind the name": ((TarMember(name=b"acme-1.0/a.py\0more"),), "tar_header", A),
    "prefix in GNU's format": ((TarMember(magic=GNU, prefix=b"acme-1.0"),), "tar_header", A),
    "padding": ((TarMember(padding=b"!" * 506),), "tar_padding", A),
    "second size": ((pax(size="5"), TarMember()), "tar_size", A),
    "empty name": ((pax(path=""), TarMember()), "tar_header", A),
    "sparse by pax": ((pax(GNU__sparse__major="1"), TarMember()), "tar_header", A),
    "character set": ((pax(hdrcharset="BINARY"), TarMember()), "tar_header", A),
    "link by pax": ((pax(linkpath="x"), TarMember()), "tar_header", A),
    "real size by pax": ((pax(SCHILY__realsize="1"), TarMember()), "tar_header", A),
    "kind by pax": ((pax(SCHILY__filetype="symlink"), TarMember()), "tar_header", A),
    "time by pax that is not a number": ((pax(mtime="nan"), TarMember()), "tar_header", A),
    "two pax headers": (
        (pax(path="acme-1.0/b"), pax(path="acme-1.0/c"), TarMember()),
        "tar_header",
        NAME,
    ),
    "pax and long name": (
        (pax(path="acme-1.0/b"), long_name(b"acme-1.0/c"), TarMember()),
        "tar_header",
        NAME,
    ),
    "two long names": (
        (long_name(b"acme-1.0/b"), long_name(b"acme-1.0/c"), TarMember()),
        "tar_header",
        NAME,
    ),
    "long name without end": (
        (long_name(b"acme-1.0/b", end=b""), TarMember()),
        "tar_header",
        NAME,
    ),
    "long name with two ends": (
        (long_name(b"acme-1.0/b\0c"), TarMember()),
        "tar_header",
        NAME,
    ),
    "pax without a member": ((TarMember(), pax(path="acme-1.0/b")), "tar_header", NAME),
    "pax for all": (
        (TarMember(kind=b"g", data=pax_record("path", b"acme-1.0/b")), TarMember()),
        "tar_header",
        NAME,
    ),
    "pax twice": (
        (
            TarMember(
                kind=b"x",
                data=pax_record("path", b"acme-1.0/b") + pax_record("path", b"acme-1.0/c"),
            ),
            TarMember(),
        ),
        "tar_header",
        NAME,
    ),
    "malformed pax": ((TarMember(kind=b"x", data=b"9 a=b\n"), TarMember()), "tar_header", NAME),
    "pax with a number that is not a number": (
        (replace(pax(path=A), mode=b"rw-r--r-"), TarMember()),
        "tar_header",
        "acme-1.0/PaxHeaders/a.py",
    ),
    "pax without length": ((TarMember(kind=b"x", data=b"a=b\n"), TarMember()), "tar_header", NAME),
    "pax too long": (
        (TarMember(kind=b"x", data=b"1" * (limits.ARCHIVE_HEADER_MAX_BYTES + 1)), TarMember()),
        "tar_header",
        NAME,
    ),
    "two folders": ((TarMember(), TarMember(name=b"b/b.py")), "tar_top", "b/b.py"),
    "no folder": ((TarMember(name=b"a.py"),), "tar_top", "a.py"),
    "file as the top": (
        (TarMember(), TarMember(name=b"acme-1.0")),
        "path_collision",
        "acme-1.0",
    ),
    "nothing": ((), "tar_top", NAME),
    "twice": ((TarMember(), TarMember()), "duplicate_member", A),
    "twice by pax": (
        (TarMember(), pax(path=A), TarMember(name=b"acme-1.0/b.py")),
        "duplicate_member",
        A,
    ),
    "other case": (
        (TarMember(), TarMember(name=b"acme-1.0/A.py")),
        "path_collision",
        "acme-1.0/A.py",
    ),
    "absolute": ((TarMember(name=b"/etc/passwd"),), "path_absolute", "/etc/passwd"),
    "absolute by pax": ((pax(path="/etc/passwd"), TarMember()), "path_absolute", "/etc/passwd"),
    "parent": (
        (TarMember(name=b"acme-1.0/../b"),),
        "path_dot_component",
        "acme-1.0/../b",
    ),
    "dot": ((TarMember(name=b"./acme-1.0/b"),), "path_dot_component", "./acme-1.0/b"),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_a_member_that_can_be_read_in_two_ways_is_refused_by_name(case: str) -> None:
    """Only plain files and folders below one folder, each with one name and one size."""
    members, code, name = MEMBERS[case]
    assert (code, name) in problems(hostile.sdist(*members))


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (b"", "tar_end"),
        (bytes(512), "tar_end"),
        (bytes(512) + TarMember(name=b"acme-1.0/b").to_bytes() + bytes(1024), "tar_trailing"),
        (bytes(1024) + b"more", "tar_trailing"),
        (bytes(1024) + TarMember(name=b"acme-1.0/b").to_bytes() + bytes(1024), "tar_trailing"),
    ],
)
def test_a_tar_ends_with_zeros_and_nothing_else(end: bytes, code: str) -> None:
    """Some readers stop at the first block of zeros, some at the second, some never."""
    assert code in {row[0] for row in problems(hostile.sdist(TarMember(), end=end))}


def test_too_many_members_are_refused() -> None:
    """Empty files cost next to nothing in the archive."""
    count = limits.ARCHIVE_MAX_MEMBERS + 1
    tar = TarMember(data=b"").to_bytes() * count + bytes(1024)
    data = gzip.compress(tar, compresslevel=1, mtime=0)
    assert ("archive_too_many", NAME) in problems(data) or problems(data) == [
        ("archive_bomb", NAME)
    ]


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"x" * 100, b"\x1f\x8b\x07" + bytes(20)])
def test_a_file_that_is_not_gzip_is_unreadable(data: bytes) -> None:
    """Exit code 3: nothing is known to be wrong with it."""
    with pytest.raises(UnreadableArchiveError):
        read_sdist(data, NAME)


FILES = {
    "PKG-INFO": b"Metadata-Version: 2.4\n",
    "é/" + "long" * 40 + "/" + "name" * 30 + ".py": b"x = 1\n",
    "run.sh": b"#!/bin/sh\n",
}


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_the_formats_of_the_standard_library_are_read(kind: int) -> None:
    """With folders listed, fractions of seconds, owners and long names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=kind) as archive:
        folder = tarfile.TarInfo("acme-1.0")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o2775
        archive.addfile(folder)
        for name, data in FILES.items():
            info = tarfile.TarInfo(f"acme-1.0/{name}")
            info.size, info.mtime = len(data), 1.5
            info.uid, info.uname = 3_000_000, "ada"
            info.mode = 0o755 if name == "run.sh" else 0o644
            archive.addfile(info, io.BytesIO(data))
    found = read_sdist(buffer.getvalue(), NAME)
    assert {name: row.data for name, row in found.members.items()} == FILES
    assert [name for name, row in found.members.items() if row.executable] == ["run.sh"]


@pytest.mark.parametrize("form", ["gnu", "pax", "ustar"])
def test_what_tar_itself_writes_is_read(tmp_path: Path, form: str) -> None:
    """GNU tar, in each of its formats."""
    tar = shutil.which("tar")
    assert tar is not None
    for name, data in FILES.items():
        if form != "ustar" or name.isascii():
            (tmp_path / "acme-1.0" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "acme-1.0" / name).write_bytes(data)
    command = [tar, f"--format={form}", "-czf", NAME, "acme-1.0"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = read_sdist((tmp_path / NAME).read_bytes(), NAME)
    wanted = {name: data for name, data in FILES.items() if form != "ustar" or name.isascii()}
    assert {name: row.data for name, row in found.members.items()} == wanted


def test_the_commit_in_the_header_of_git_archive_is_accepted() -> None:
    """It changes no member."""
    note = TarMember(name=b"pax_global_header", kind=b"g", data=pax_record("comment", b"c" * 40))
    assert read_sdist(hostile.sdist(note, TarMember()), NAME).members.keys() == {"a.py"}


def test_a_file_name_in_the_gzip_header_is_accepted() -> None:
    """Many tools write it, and none unpacks by it."""
    named = PLAIN[:3] + b"\x08" + PLAIN[4:10] + b"acme-1.0.tar\0" + PLAIN[10:]
    assert read_sdist(named, NAME).members.keys() == {"a.py"}


def test_extended_attributes_are_accepted() -> None:
    """The attributes that macOS writes change neither bytes nor type."""
    header = pax(mtime="1800000000.5", LIBARCHIVE__xattr__a="b", SCHILY__dev="1")
    assert read_sdist(hostile.sdist(header, TarMember()), NAME).members.keys() == {"a.py"}


def test_a_size_that_pax_repeats_is_accepted() -> None:
    """Only another one would be confusing."""
    assert read_sdist(hostile.sdist(pax(size="6"), TarMember()), NAME).members.keys() == {"a.py"}


def test_a_number_that_does_not_fit_may_be_binary() -> None:
    """GNU tar writes large user ids like that; a size that large is beyond every limit."""
    wide = TarMember(size=b"\x80" + bytes(7) + struct.pack(">L", 6))
    assert read_sdist(hostile.sdist(wide), NAME).members["a.py"].data == b"x = 1\n"
