"""Zips that two tools could read differently are refused, with member and cause."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives import limits
from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import read_wheel
from skills_bundle.errors import UnreadableArchiveError, UnsafeArchiveError
from skills_bundle.formats import limits as format_limits
from tests.archives.hostile import Zip, ZipMember, deflated, zip64_end

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "acme-1.0-py3-none-any.whl"
PLAIN = Zip()
END = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)
DIRECTORY = len(PLAIN.to_bytes()) - 22
"""Where the plain zip ends but for its end record."""


def problems(data: bytes) -> list[tuple[str, str]]:
    """Return code and place of every problem of a wheel."""
    with pytest.raises(UnsafeArchiveError) as caught:
        read_wheel(data, NAME)
    assert caught.value.exit_code == 1
    return [(problem.code, problem.path or "") for problem in caught.value.problems]


def test_the_plain_zip_is_read() -> None:
    """What follows starts from a valid archive."""
    members = read_wheel(PLAIN.to_bytes(), NAME).members
    assert members["acme/a.py"] == Member(b"x = 1\n")


def _unicode_path(name: bytes, of: bytes) -> bytes:
    part = b"\1" + struct.pack("<L", zlib.crc32(of)) + name
    return struct.pack("<2H", 0x7075, len(part)) + part


def _zip64(*values: int) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values)


A = "acme/a.py"
WHOLE = {
    "prefix": (Zip(prefix=b"#!/bin/sh\n"), "zip_prefix"),
    "suffix": (Zip(suffix=b"more"), "zip_trailing"),
    "comment": (Zip(comment=b"hello"), "zip_comment"),
    "announced comment": (Zip(end={"comment_size": 4}), "zip_end"),
    "end record behind the end record": (Zip(suffix=END), "zip_end"),
    "end record as the comment": (Zip(comment=END), "zip_end"),
    "end record before the end record": (Zip(before_end=END), "zip_end"),
    "directory elsewhere": (Zip(end={"directory_offset": 0}), "zip_end"),
    "directory too short": (Zip(end={"directory_size": 46}), "zip_end"),
    "fewer rows announced": (Zip(end={"entries": 1, "disk_entries": 1}), "zip_directory"),
    "more rows announced": (Zip(end={"entries": 3, "disk_entries": 3}), "zip_directory"),
    "directory behind its rows": (Zip(before_end=b"?", end={"directory_size": 128}), "zip_end"),
    "several disks": (Zip(end={"disk": 1}), "zip_end"),
    "rows on another disk": (Zip(end={"disk_entries": 1}), "zip_end"),
    "too many rows": (
        Zip(end={"entries": limits.ARCHIVE_MAX_MEMBERS + 1, "disk_entries": 1}),
        "archive_too_many",
    ),
    "locator without record": (
        Zip(before_end=struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)),
        "zip64",
    ),
}
"""What is wrong with the archive as a whole."""


@pytest.mark.parametrize("case", WHOLE)
def test_an_archive_that_is_not_all_of_the_file_is_refused(case: str) -> None:
    """Another reader would find another directory, or none."""
    made, code = WHOLE[case]
    assert (code, NAME) in problems(made.to_bytes())


MEMBER: dict[str, tuple[dict[str, object], str, str]] = {
    "bytes before": ({"behind": b"?"}, "zip_gap", A),
    "local name": ({"local": {"name": b"acme/b.py"}}, "zip_local_header", A),
    "local CRC": ({"local": {"crc": 1}}, "zip_local_header", A),
    "local size": ({"local": {"size": 7}}, "zip_local_header", A),
    "local packed size": ({"local": {"packed": 7}}, "zip_local_header", A),
    "local method": ({"local": {"method": 8}}, "zip_local_header", A),
    "local flags": ({"local": {"flags": 2}}, "zip_local_header", A),
    "local date": ({"local": {"date": 0x22}}, "zip_local_header", A),
    "local version": ({"local": {"needed": 10}}, "zip_local_header", A),
    "no local header": ({"offset": 4}, "zip_overlap", A),
    "encrypted": ({"flags": 1}, "zip_encrypted", A),
    "strongly encrypted": ({"flags": 0x40}, "zip_encrypted", A),
    "AES": ({"extra": struct.pack("<2H", 0x9901, 0)}, "zip_extra", A),
    "unknown flag": ({"flags": 0x20}, "zip_flags", A),
    "unknown method": ({"method": 14}, "zip_method", A),
    "wrong CRC": ({"crc": 1}, "zip_crc", A),
    "stored with two sizes": ({"size": 7}, "zip_size", A),
    "deflated to more": (
        {"method": 8, "packed": deflated(b"x" * 9999), "size": 6},
        "zip_size",
        A,
    ),
    "deflated to less": ({"method": 8, "size": 7}, "zip_size", A),
    "bytes behind the stream": (
        {"method": 8, "packed": deflated(b"x = 1\n") + b"?"},
        "zip_size",
        A,
    ),
    "no stream": ({"method": 8, "packed": b"\xff\xff"}, "zip_data", A),
    "stream without end": ({"method": 8, "packed": deflated(b"x = 1\n")[:-1]}, "zip_size", A),
    "descriptor of another CRC": (
        {"flags": 8, "behind": b"PK\7\10" + struct.pack("<3L", 1, 6, 6)},
        "zip_descriptor",
        A,
    ),
    "no descriptor": ({"flags": 8}, "zip_descriptor", A),
    "descriptor without its flag": (
        {"behind": struct.pack("<3L", zlib.crc32(b"x = 1\n"), 6, 6)},
        "zip_gap",
        A,
    ),
    "stored and streamed, with an end inside": (
        {
            "flags": 8,
            "data": b"PK\7\10",
            "behind": struct.pack("<3L", zlib.crc32(b"PK\7\10"), 4, 4),
        },
        "zip_descriptor",
        A,
    ),
    "unlisted member": ({"behind": ZipMember(name=b"b").local_bytes()}, "zip_gap", A),
    "comment": ({"comment": b"hello"}, "zip_comment", A),
    "another disk": ({"disk": 1}, "zip_directory", A),
    "malformed extra": ({"extra": b"\1\0\xff\0"}, "zip_extra", A),
    "Unix kind in an extra field": ({"extra": struct.pack("<2H", 0x756E, 0)}, "zip_extra", A),
    "mode in a local extra field": (
        {"local_extra": struct.pack("<2H", 0x6C78, 0)},
        "zip_extra",
        A,
    ),
    "volume's name": ({"external": 0x08, "made_by": 20}, "special_member", A),
    "executable without a kind": ({"external": 0o755 << 16}, "special_member", A),
    "version that is to come": (
        {"local": {"needed": 63}, "listed_figures": {"needed": 63}},
        "zip_method",
        A,
    ),
    "extra twice": ({"extra": struct.pack("<4H", 9, 0, 9, 0)}, "zip_extra", A),
    "malformed local extra": ({"local_extra": b"?"}, "zip_extra", A),
    "another Unicode path": (
        {"extra": _unicode_path(b"acme/b.py", b"acme/a.py")},
        "zip_extra",
        A,
    ),
    "another local Unicode path": (
        {"local_extra": _unicode_path(b"acme/b.py", b"acme/a.py")},
        "zip_extra",
        A,
    ),
    "zip64": ({"extra": _zip64(6)}, "zip64", A),
    "zip64 sizes": ({"size": 0xFFFFFFFF, "extra": b"\1\0\4\0????"}, "zip64", A),
    "local zip64": ({"local_extra": _zip64(6, 6)}, "zip64", A),
    "symbolic link": ({"external": 0o120777 << 16}, "special_member", A),
    "pipe": ({"external": 0o010644 << 16}, "special_member", A),
    "device": ({"external": 0o060644 << 16}, "special_member", A),
    "folder named like a file": ({"external": 0o040755 << 16}, "special_member", A),
    "DOS folder named like a file": ({"external": 0x10}, "special_member", A),
    "file named like a folder": (
        {"name": b"acme/a/", "data": b""},
        "special_member",
        "acme/a/",
    ),
    "folder with bytes": (
        {"name": b"acme/a/", "external": 0o040755 << 16 | 0x10},
        "special_member",
        "acme/a/",
    ),
}
"""What is wrong with one member."""


@pytest.mark.parametrize("case", MEMBER)
def test_a_member_that_tools_read_differently_is_refused_by_name(case: str) -> None:
    """The directory, the local header and the bytes have to say one thing."""
    changes, code, name = MEMBER[case]
    assert (code, name) in problems(PLAIN.with_first(**changes).to_bytes())


NAMES = {
    "absolute": (b"/etc/passwd", "path_absolute"),
    "drive letter": (b"C:/a.py", "path_absolute"),
    "drive letter, relative": (b"c:a.py", "path_absolute"),
    "share": (b"//host/share", "path_absolute"),
    "backslash": (b"acme\\a.py", "path_backslash"),
    "parent": (b"acme/../../a.py", "path_dot_component"),
    "dot": (b"acme/./a.py", "path_dot_component"),
    "empty component": (b"acme//a.py", "path_empty_component"),
    "empty": (b"", "path_empty_component"),
    "NUL": (b"acme/a.py\0.txt", "path_control_character"),
    "line feed": (b"acme/a\n.py", "path_control_character"),
    "right to left": ("acme/a\u202e.py".encode(), "path_control_character"),
    "trailing dot": (b"acme/a.py.", "path_trailing_dot_or_space"),
    "trailing space": (b"acme /a.py", "path_trailing_dot_or_space"),
    "numbered version": (b"acme/a.py;1", "path_version"),
    "alternate stream": (b"acme/a.py::$DATA", "path_colon"),
    "not UTF-8": (b"acme/\xff.py", "path_not_utf8"),
    "too long": (b"a" * (limits.ARCHIVE_NAME_MAX_BYTES + 1), "path_too_long"),
    "too deep": (b"a/" * limits.ARCHIVE_NAME_MAX_COMPONENTS + b"a", "path_too_deep"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_outside_its_folder_is_refused(case: str) -> None:
    """Below its folder on every system, or nowhere."""
    name, code = NAMES[case]
    found = problems(PLAIN.with_first(name=name, flags=0x800).to_bytes())
    assert code in {row[0] for row in found}


def test_a_name_of_another_character_set_is_refused() -> None:
    """Without the flag for UTF-8, tools disagree on it."""
    made = PLAIN.with_first(name="acme/é.py".encode())
    assert ("path_not_utf8", "acme/é.py") in problems(made.to_bytes())


PAIRS = {
    "twice": (b"acme/a.py", "duplicate_member"),
    "other case": (b"acme/A.py", "path_collision"),
    "other case of a folder": (b"ACME/b.py", "path_collision"),
    "decomposed": ("acme/e\u0301.py".encode(), "path_collision"),
    "compatible": ("acme/\ufb01.py".encode(), "path_collision"),
    "file below a file": (b"acme/a.py/b.py", "path_collision"),
    "folder called as a file": (b"acme/a.py/", "path_collision"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_two_members_that_are_one_file_somewhere_are_refused(case: str) -> None:
    """Which of them is installed would depend on the system, or on the order."""
    name, code = PAIRS[case]
    folder = name.endswith(b"/")
    data, external = (b"", 0o040755 << 16 | 0x10) if folder else (b"1", 0o100644 << 16)
    made = PLAIN.adding(
        ZipMember(name="acme/é.py".encode(), flags=0x800),
        ZipMember(name=b"acme/fi.py"),
        ZipMember(name=name, data=data, external=external, flags=0x800),
    )
    assert code in {row[0] for row in problems(made.to_bytes())}


def test_members_that_share_their_bytes_are_refused() -> None:
    """So a small archive unpacks to any amount."""
    made = PLAIN.adding(ZipMember(name=b"acme/b.py", offset=0, written=False))
    assert "zip_overlap" in {row[0] for row in problems(made.to_bytes())}


def test_a_member_inside_another_is_refused() -> None:
    """The outer one's bytes hold the inner one's header."""
    inner = ZipMember(name=b"acme/b.py", data=b"1")
    outer = ZipMember(name=b"acme/a.py", data=inner.local_bytes())
    place = len(outer.local_bytes()) - len(inner.local_bytes())
    made = Zip(
        members=(
            outer,
            ZipMember(name=b"acme/b.py", data=b"1", offset=place, written=False),
        )
    )
    assert ("zip_overlap", "acme/a.py") in problems(made.to_bytes())


def test_every_problem_is_reported_at_once() -> None:
    """Of three members with a fault each, three are named."""
    made = Zip(
        members=(
            ZipMember(name=b"../a"),
            ZipMember(name=b"b", flags=1),
            ZipMember(name=b"c", method=99),
        ),
        suffix=b"x",
    )
    found = {code for code, _ in problems(made.to_bytes())}
    assert found == {"path_dot_component", "zip_encrypted", "zip_method", "zip_trailing"}


def test_problems_beyond_the_limit_are_counted() -> None:
    """A hostile archive fills neither the screen nor the memory."""
    count = limits.ARCHIVE_MAX_PROBLEMS + 5
    members = tuple(ZipMember(name=b"%d" % number, flags=1) for number in range(count))
    with pytest.raises(UnsafeArchiveError, match="and 5 more") as caught:
        read_wheel(Zip(members=members).to_bytes(), NAME)
    assert len(caught.value.problems) == limits.ARCHIVE_MAX_PROBLEMS + 1


@pytest.mark.parametrize("name", ["METADATA", "WHEEL", "entry_points.txt"])
def test_a_control_file_larger_than_any_is_refused(name: str) -> None:
    """It is parsed line by line, which costs far more than its bytes."""
    path = f"acme-1.0.dist-info/{name}"
    large = ZipMember(name=path.encode(), data=b"a" * (format_limits.METADATA_MAX_BYTES + 1))
    assert problems(PLAIN.adding(large).to_bytes()) == [("control_too_large", path)]


def test_a_bomb_is_refused_by_what_it_announces() -> None:
    """Before anything is unpacked."""
    packed = deflated(bytes(limits.ARCHIVE_RATIO_FREE_BYTES * 2))
    made = PLAIN.with_first(
        method=8, packed=packed, size=limits.ARCHIVE_RATIO_FREE_BYTES * 2, crc=0
    )
    assert problems(made.to_bytes()) == [("archive_bomb", NAME)]


def test_a_bomb_that_announces_little_is_unpacked_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One byte more than announced is enough to know."""
    taken: list[int] = []
    original = zlib.decompressobj

    class Watched:
        def __init__(self, bits: int) -> None:
            self._real = original(bits)

        def decompress(self, data: bytes, most: int) -> bytes:
            found = self._real.decompress(data, most)
            taken.append(len(found))
            return found

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

    monkeypatch.setattr(zlib, "decompressobj", Watched)
    made = PLAIN.with_first(method=8, packed=deflated(bytes(10_000_000)), size=6)
    assert ("zip_size", A) in problems(made.to_bytes())
    assert max(taken) == 7


def test_what_unpacks_to_too_much_is_refused() -> None:
    """Whatever its ratio."""
    members = tuple(
        ZipMember(name=b"%d" % number, size=limits.ARCHIVE_MAX_UNPACKED_BYTES, method=8)
        for number in range(2)
    )
    assert ("archive_bomb", NAME) in problems(Zip(members=members).to_bytes())


@pytest.mark.parametrize("data", [b"", b"PK", b"x" * 100, PLAIN.to_bytes()[:-1], b"PK\5\6"])
def test_a_file_that_is_not_a_zip_is_unreadable(data: bytes) -> None:
    """Exit code 3: nothing is known to be wrong with it."""
    with pytest.raises(UnreadableArchiveError):
        read_wheel(data, NAME)


class _Pipe(io.RawIOBase):
    """A file that cannot be sought in, as a pipe."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.data += bytes(data)  # pyright: ignore[reportArgumentType]
        return len(bytes(data))  # pyright: ignore[reportArgumentType]


def _streamed(compression: int) -> bytes:
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", compression) as archive:  # pyright: ignore[reportArgumentType]
        archive.writestr("acme/a.py", b"x = 1\n" * 100)
        archive.writestr("acme/é.py", b"")
    return bytes(pipe.data)


def _from_windows() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = zipfile.ZipInfo("acme/")
        folder.create_system, folder.external_attr = 0, 0x10
        archive.writestr(folder, b"")
        file = zipfile.ZipInfo("acme/a.py")
        file.create_system, file.external_attr = 0, 0x20
        archive.writestr(file, b"x = 1\n" * 100)
    return buffer.getvalue()


ORDINARY: dict[str, Callable[[], bytes]] = {
    "streamed, deflated": lambda: _streamed(zipfile.ZIP_DEFLATED),
    "streamed, stored": lambda: _streamed(zipfile.ZIP_STORED),
    "from Windows": _from_windows,
    "time stamps": lambda: PLAIN.with_first(
        extra=b"UT\5\0\1????", local_extra=b"UT\x09\0\3????????"
    ).to_bytes(),
    "a zip in the zip": lambda: PLAIN.with_first(data=PLAIN.to_bytes()).to_bytes(),
    "no members": lambda: Zip(members=()).to_bytes(),
}


@pytest.mark.parametrize("case", ORDINARY)
def test_what_other_tools_write_is_read_as_they_read_it(case: str) -> None:
    """The standard library finds the same names and bytes."""
    data = ORDINARY[case]()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        wanted = {row.filename: archive.read(row) for row in archive.infolist() if not row.is_dir()}
    assert {name: row.data for name, row in read_wheel(data, NAME).members.items()} == wanted


def _streamed_with_zip64() -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("acme/a.py", "w", force_zip64=True) as file,
    ):
        file.write(b"x = 1\n" * 100)
    return buffer.getvalue()


def _zip64_end() -> bytes:
    rows = sum(len(member.row(0)) for member in PLAIN.members)
    return Zip(before_end=zip64_end(2, rows, DIRECTORY - rows)).to_bytes()


@pytest.mark.parametrize("data", [_zip64_end(), _streamed_with_zip64()])
def test_zip64_is_refused(data: bytes) -> None:
    """No file within the limit needs it, and tools without it read other figures."""
    assert "zip64" in {row[0] for row in problems(data)}


def test_the_executable_bit_is_what_installers_take_for_it() -> None:
    """Any of the three."""
    made = PLAIN.with_first(external=0o100654 << 16)
    assert read_wheel(made.to_bytes(), NAME).members[A].executable
