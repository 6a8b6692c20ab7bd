"""The tamper matrix on a wheel that uv installed, and installations of links and of `installer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.tamper import tampered
from tests.end_to_end.tamper.rows import check, outcome
from tests.tamper.changes import same_size
from tests.tamper.installation import CHANGES, OTHER, TARGET
from tests.tamper.matrix import ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.end_to_end.tamper.tampered import Installed, Server
    from tests.tamper.matrix import Row

INSTALLER = "uv"
OF_INSTALLERS = [row for row in ROWS if row.area != "lock"]
"""How a lock is read does not depend on who put it there."""


@pytest.mark.parametrize("row", OF_INSTALLERS, ids=lambda row: row.id)
def test_each_row_of_the_matrix(altered: Installed, server: Server, row: Row) -> None:
    """Verdict, states, gaps, and what is served: as the row has it."""
    check(altered, server, row)


def test_an_edit_in_another_environment_is_noticed_where_files_are_shared(wheel: Path) -> None:
    """Hard links of uv: who writes in place in one environment writes in all."""
    with tampered.room() as folder:
        options = ("--link-mode", "hardlink")
        one = tampered.install(wheel, folder / "one", "uv", *options)
        other = tampered.install(wheel, folder / "other", "uv", *options)
        assert (one.skills / TARGET).samefile(other.skills / TARGET)
        assert one.verify_as_a_command()["exit_code"] == 0
        with tampered.serving(one) as server:
            kept = server.read(TARGET)["content"]
            same_size(other.skills / TARGET)
            assert outcome(server.read(TARGET), kept.encode()) == "refused"
        assert one.verify_as_a_command()["exit_code"] == 1


def test_an_installation_of_links_cannot_be_told_and_serves_what_is_locked(wheel: Path) -> None:
    """Links of uv: exit 3 and the gap; a changed target is refused all the same."""
    with tampered.room() as folder:
        options = ("--link-mode", "symlink")
        made = tampered.install(wheel, folder / "environment", "uv", *options)
        assert (made.skills / TARGET).is_symlink()
        report = made.verify_as_a_command()
        assert (report["exit_code"], report["gaps"]) == (3, ["linked_install"])
        with tampered.serving(made) as server:
            kept = server.read(TARGET)["content"]
            same_size((made.skills / TARGET).resolve())
            assert outcome(server.read(TARGET), kept.encode()) == "refused"
            assert "content" in server.read(OTHER)
        assert made.verify_as_a_command()["exit_code"] == 1


def test_an_installer_that_computes_record_anew_changes_nothing(wheel: Path) -> None:
    """What `installer` wrote is whole, and a file altered before it computed RECORD is not."""
    with tampered.room() as folder:
        made = tampered.install(wheel, folder / "environment", "installer")
        assert made.verify_as_a_command()["exit_code"] == 0
        CHANGES["record_renewed"](made)
        report = made.verify_as_a_command()
        assert (report["exit_code"], report["gaps"]) == (1, ["altered_files"])
