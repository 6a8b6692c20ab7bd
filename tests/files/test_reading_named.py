"""Reading a file that somebody named: through links, and never waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.files import reading
from tests import odd_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("change", [odd_files.fifo, odd_files.folder, odd_files.unix_socket])
def test_a_named_file_that_is_none_makes_nobody_wait(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    """It is the caller's to name, and a plain `open` would wait for a writer."""
    file = tmp_path / "named"
    file.write_bytes(b"x")
    change(file)
    with pytest.raises(OSError, match=r"regular|device|directory"):
        reading.read_named(file, 10)


def test_a_named_file_is_read_through_links_and_one_byte_too_far(tmp_path: Path) -> None:
    """Whoever named it may arrange it; the byte too many tells that it is too long."""
    (tmp_path / "real").write_bytes(b"12345")
    (tmp_path / "named").symlink_to("real")
    assert reading.read_named(tmp_path / "named", 3) == b"1234"
