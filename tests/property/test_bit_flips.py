"""Every single-bit flip of lock and receipt is noticed, also where there is no RECORD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import documents
from skills_bundle.bundle.documents import Identity
from tests import odd_files
from tests.installed_builder import NAME, VERSION, InstalledBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.installed_builder import Installation

SKILLS = {"a": {"SKILL.md": b"---\nname: a\ndescription: A.\n---\n"}}
BUILDER = InstalledBuilder(
    skills=SKILLS, fields={"a": {"tags": ("t",), "diagnostics": ("yaml_repaired",)}}
)
LOCK, RECEIPT = BUILDER.lock.to_bytes(), BUILDER.receipt.to_bytes()
STRIDE = 61
"""Bits between two flips on a real disk; prime, so that every position in a byte comes up."""


def _flips(data: bytes, stride: int = 1) -> Iterator[tuple[int, bytes]]:
    for bit in range(0, len(data) * 8, stride):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bit, bytes(flipped)


def _is_clean(lock: bytes, receipt: bytes) -> bool:
    """Return whether both are accepted without a RECORD."""
    one, other = documents.cross_check(
        documents.read_lock(lock, None),
        documents.read_receipt(receipt, None),
        Identity(NAME, VERSION, known=True),
    )
    return one.state == other.state == "ok"


def test_lock_and_receipt_are_clean_to_begin_with() -> None:
    """What follows starts from a valid pair."""
    assert _is_clean(LOCK, RECEIPT)


def test_every_flipped_bit_of_the_lock_is_noticed_without_a_record() -> None:
    """All of them, one at a time."""
    assert [bit for bit, data in _flips(LOCK) if _is_clean(data, RECEIPT)] == []


def test_every_flipped_bit_of_the_receipt_is_noticed_without_a_record() -> None:
    """All of them, one at a time."""
    assert [bit for bit, data in _flips(RECEIPT) if _is_clean(LOCK, data)] == []


def test_every_flipped_bit_of_the_receipt_alone_is_noticed() -> None:
    """The receipt's own digest of its fields is enough, without metadata or lock."""
    unnoticed = [
        bit for bit, data in _flips(RECEIPT) if documents.read_receipt(data, None).state == "ok"
    ]
    assert unnoticed == []


@pytest.mark.parametrize("record", ["with_record", "without_record"])
@pytest.mark.parametrize("document", ["lock", "receipt"])
def test_a_flipped_bit_on_disk_ends_in_another_exit_code(
    tmp_path: Path, document: str, record: str
) -> None:
    """The whole verification of an installation; every sixty-first bit."""
    made = BUILDER.install(tmp_path)
    if record == "without_record":
        odd_files.remove(made.record)
    assert made.verify().exit_code == 0
    path, data = (made.lock, LOCK) if document == "lock" else (made.receipt, RECEIPT)
    clean = [bit for bit, flipped in _flips(data, STRIDE) if _exit_code(made, path, flipped) == 0]
    assert clean == []


def _exit_code(made: Installation, path: Path, data: bytes) -> int:
    path.write_bytes(data)
    return made.verify().exit_code
