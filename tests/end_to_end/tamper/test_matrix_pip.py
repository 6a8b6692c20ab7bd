"""Every row of the tamper matrix on a wheel that pip installed, and a flipped bit in every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import lock
from tests.end_to_end.tamper.rows import check
from tests.tamper.installation import CHANGES
from tests.tamper.matrix import ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.tamper.tampered import Installed, Server
    from tests.tamper.matrix import Row

INSTALLER = "pip"
LOCK_STRIDE = 4_999
RECEIPT_STRIDE = 14_983
"""Bits from one flip to the next; both prime, so that every bit of a byte has its turn."""


def test_every_change_has_a_row_and_every_row_a_change() -> None:
    """So that nothing is done of which nobody says what must come of it."""
    assert sorted(CHANGES) == sorted(row.id for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_each_row_of_the_matrix(altered: Installed, server: Server, row: Row) -> None:
    """Verdict, states, gaps, and what is served: as the row has it."""
    check(altered, server, row)


def _flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def test_a_flipped_bit_in_any_file_is_named(altered: Installed) -> None:
    """One bit of each file that the wheel brought, another place and another bit in each."""
    rows = [path for path in altered.locate().record.rows if not path.endswith(".pyc")]  # type: ignore[union-attr]
    inside = [path for path in rows if not path.startswith("../") and "RECORD" not in path]
    files = [path for path in inside if (altered.site / path).stat().st_size]
    documents = {altered.lock, altered.receipt}
    for number, path in enumerate(sorted(files)):
        file = altered.site / path
        data = file.read_bytes()
        _flip(file, number * 7919 % (len(data) * 8))
        found = altered.verify()
        assert found.exit_code in {1, 3}
        assert file in documents or path in {row.path for row in found.differences}, path
        file.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "stride"),
    [("catalog.lock.json", LOCK_STRIDE), ("build-receipt.json", RECEIPT_STRIDE)],
)
def test_a_flipped_bit_of_lock_or_receipt_is_noticed(
    altered: Installed, name: str, stride: int
) -> None:
    """A stride of bits here; every single one of both is flipped among the property tests."""
    file = altered.bundle / name
    data = file.read_bytes()
    for bit in range(0, len(data) * 8, stride):
        _flip(file, bit)
        assert altered.verify().exit_code != 0, bit
        file.write_bytes(data)


def test_a_flipped_bit_in_every_locked_file_at_once_serves_none(
    altered: Installed, server: Server
) -> None:
    """Every read of every file is refused, and search says why."""
    files = lock.parse(altered.lock.read_bytes()).files()
    for number, path in enumerate(sorted(files)):
        _flip(altered.skills / path, number * 7919 % (files[path].size * 8))
    codes = {server.read(path)["error"]["code"] for path in files}
    assert codes == {"resource_unavailable"}
    assert server.search()["provenance"]["gaps"] == ["altered_files"]
