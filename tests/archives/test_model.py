"""The one form of wheels and sdists."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.archives.model import STORED_BLOCK, Member, stored_gzip, write_sdist, write_wheel
from skills_bundle.hatch_plugin.archives import read_sdist, read_wheel

DIST_INFO = "acme-1.0.dist-info"
MEMBERS = {
    f"{DIST_INFO}/WHEEL": Member(b"Wheel-Version: 1.0\n"),
    "acme/run.sh": Member(b"#!/bin/sh\n", executable=True),
    "acme/b.py": Member(b""),
    "acme/é.py": Member(b"e"),
    f"{DIST_INFO}/METADATA": Member(b"Metadata-Version: 2.4\n"),
}


def infos(data: bytes) -> list[zipfile.ZipInfo]:
    """Return the rows of a zip's directory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.infolist()


def test_members_are_sorted_with_metadata_last_and_record_at_the_end() -> None:
    """PEP 427 advises metadata last; the rest is in the order of bytes."""
    names = [info.filename for info in infos(write_wheel(MEMBERS, DIST_INFO, "stored"))]
    assert names == [
        "acme/b.py",
        "acme/run.sh",
        "acme/é.py",
        f"{DIST_INFO}/METADATA",
        f"{DIST_INFO}/WHEEL",
        f"{DIST_INFO}/RECORD",
    ]


def test_no_member_records_time_system_or_owner() -> None:
    """Every member is a stored Unix file of 1980 with one of two modes."""
    facts = {
        (info.compress_type, info.create_system, info.date_time, info.external_attr >> 16)
        for info in infos(write_wheel(MEMBERS, DIST_INFO, "stored"))
    }
    unix, date = 3, (1980, 1, 1, 0, 0, 0)
    assert facts == {
        (zipfile.ZIP_STORED, unix, date, stat.S_IFREG | 0o644),
        (zipfile.ZIP_STORED, unix, date, stat.S_IFREG | 0o755),
    }


def test_a_wheel_does_not_depend_on_the_order_of_its_members() -> None:
    """Reversed members give the same bytes."""
    backwards = dict(reversed(MEMBERS.items()))
    assert write_wheel(backwards, DIST_INFO, "stored") == write_wheel(MEMBERS, DIST_INFO, "stored")


def test_an_old_record_is_replaced() -> None:
    """Hatchling's RECORD knows nothing of the bundle."""
    old = {**MEMBERS, f"{DIST_INFO}/RECORD": Member(b"old")}
    assert write_wheel(old, DIST_INFO, "stored") == write_wheel(MEMBERS, DIST_INFO, "stored")


def test_record_lists_every_member_by_digest_and_size() -> None:
    """The digest is URL-safe base64 without padding; the empty file's is well known."""
    record = read_wheel(write_wheel(MEMBERS, DIST_INFO, "stored"))[f"{DIST_INFO}/RECORD"].data
    lines = record.decode().splitlines()
    assert lines[0] == "acme/b.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"
    assert lines[-1] == f"{DIST_INFO}/RECORD,,"
    assert len(lines) == len(MEMBERS) + 1


def test_deflated_members_hold_the_same_bytes() -> None:
    """The setting changes how members are kept and nothing of what they hold."""
    deflated = write_wheel({**MEMBERS, "acme/big": Member(b"a" * 9999)}, DIST_INFO, "deflated")
    assert read_wheel(deflated)["acme/big"] == Member(b"a" * 9999)
    assert {info.compress_type for info in infos(deflated)} == {zipfile.ZIP_DEFLATED}


def test_an_sdist_is_sorted_and_records_no_time_or_owner() -> None:
    """Regular files of 1980, without an owner, with one of two modes."""
    with tarfile.open(fileobj=io.BytesIO(write_sdist(MEMBERS, "acme-1.0"))) as archive:
        rows = archive.getmembers()
    assert [row.name for row in rows] == [f"acme-1.0/{n}" for n in sorted(MEMBERS, key=str.encode)]
    assert {(row.mtime, row.uid, row.gid, row.uname, row.gname) for row in rows} == {
        (315_532_800, 0, 0, "", "")
    }
    assert {oct(row.mode) for row in rows} == {"0o644", "0o755"}


@pytest.mark.parametrize("name", ["a" * 300, "é" * 90, f"{'d' * 99}/{'f' * 120}"])
def test_an_sdist_holds_names_that_plain_tar_cannot(name: str) -> None:
    """Long and non-ASCII names come back as they were."""
    top, members = read_sdist(write_sdist({name: Member(b"x")}, "acme-1.0"))
    assert (top, members) == ("acme-1.0", {name: Member(b"x")})


@pytest.mark.parametrize("size", [0, 1, STORED_BLOCK, STORED_BLOCK + 1, 3 * STORED_BLOCK])
def test_stored_gzip_is_gzip_at_the_edges_of_a_block(size: int) -> None:
    """The reader of the standard library gets the bytes back."""
    assert gzip.decompress(stored_gzip(b"x" * size)) == b"x" * size


@given(st.binary(max_size=200))
def test_stored_gzip_is_gzip(data: bytes) -> None:
    """Any bytes come back."""
    assert gzip.decompress(stored_gzip(data)) == data
