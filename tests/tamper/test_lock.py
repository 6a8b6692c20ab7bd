"""The lock of an installed bundle altered in every way: nothing is served from a lock like that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import BundleUnavailableError, ToolError
from skills_bundle.formats import limits
from tests import odd_files
from tests.installed_builder import InstalledBuilder, lock_of
from tests.tamper.changes import LOCK_EDITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.installed_builder import Installation


def _dropped_entry(made: Installation) -> None:
    skills = InstalledBuilder().skills
    kept = {"alpha": skills["alpha"]}
    made.lock.write_bytes(lock_of(kept).to_bytes())


def _huge(made: Installation) -> None:
    os.truncate(made.lock, 200 * limits.MIB)


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


def _assert_unavailable(made: Installation) -> None:
    for ask in (made.catalog().search, made.catalog().overview, lambda: made.catalog().read("a")):
        with pytest.raises(ToolError) as refused:
            ask()
        assert refused.value.code == "catalog_unavailable"


@pytest.mark.parametrize("name", LOCK_EDITS)
def test_an_edited_lock_is_altered_and_nothing_is_served(made: Installation, name: str) -> None:
    """RECORD has another digest for it: exit 1."""
    made.lock.write_bytes(LOCK_EDITS[name](made.lock.read_bytes()))
    found = made.verify()
    assert (found.exit_code, found.lock.state) == (1, "altered")
    assert found.provenance is None
    _assert_unavailable(made)


@pytest.mark.parametrize("name", LOCK_EDITS)
def test_an_edited_lock_is_noticed_without_a_record(made: Installation, name: str) -> None:
    """By its own form, or by the receipt that names its digest: never exit 0."""
    odd_files.remove(made.record)
    made.lock.write_bytes(LOCK_EDITS[name](made.lock.read_bytes()))
    found = made.verify()
    assert found.exit_code in {1, 3}
    assert found.lock.state in {"altered", "invalid"}
    _assert_unavailable(made)


@pytest.mark.parametrize("change", [_dropped_entry, _huge])
def test_another_or_a_huge_lock_is_altered(
    made: Installation, change: Callable[[Installation], None]
) -> None:
    """A valid lock that leaves a skill out; 200 MB that are not read."""
    change(made)
    assert made.verify().lock.state == "altered"
    _assert_unavailable(made)


@pytest.mark.parametrize(
    ("name", "state", "exit_code"),
    [
        ("missing", "missing", 3),
        ("symlink_to_a_copy", "linked", 1),
        ("dangling_symlink", "linked", 1),
        ("symlink_loop", "linked", 1),
        ("symlinked_parent", "linked", 1),
        ("folder", "not_regular", 1),
        ("fifo", "not_regular", 1),
        ("unix_socket", "not_regular", 1),
        ("device", "not_regular", 1),
        ("sparse", "altered", 1),
    ],
)
def test_whatever_else_lies_there_has_a_state(
    made: Installation, name: str, state: str, exit_code: int
) -> None:
    """A lock that is gone cannot be compared; one that became something else is altered."""
    odd_files.KINDS[name][0](made.lock)
    found = made.verify()
    assert (found.lock.state, found.exit_code) == (state, exit_code)
    _assert_unavailable(made)


def test_an_unreadable_lock_cannot_be_told(tmp_path: Path) -> None:
    """Mode 000: exit 3."""
    del tmp_path
    with odd_files.unprivileged_folder() as folder:
        made = InstalledBuilder().install(folder)
        made.lock.chmod(0)
        with odd_files.without_privileges():
            found = made.verify()
    assert (found.lock.state, found.exit_code) == ("unreadable", 3)


def test_a_lock_of_another_version_that_was_installed_so_cannot_be_told(
    made: Installation,
) -> None:
    """RECORD agrees, so nobody altered it: this program is too old for it. Exit 3."""
    made.lock.write_bytes(LOCK_EDITS["other_version"](made.lock.read_bytes()))
    made.write_record()
    found = made.verify()
    assert (found.lock.state, found.exit_code) == ("invalid", 3)
    assert "lock_version 2" in found.lock.problems[0].message
    _assert_unavailable(made)


def test_without_a_lock_record_still_speaks_of_the_skills(made: Installation) -> None:
    """The lock is gone and a skill was changed: RECORD says so, exit 1."""
    odd_files.remove(made.lock)
    (made.skills / "alpha/SKILL.md").write_bytes(b"Obey.\n")
    (row,) = made.verify().differences
    assert (row.path, row.contradicted_by) == (
        "acme_skills/.agents/skills/alpha/SKILL.md",
        ("record",),
    )


def test_without_lock_and_record_no_file_is_called_extra(made: Installation) -> None:
    """Nobody says what belongs there."""
    odd_files.remove(made.lock)
    odd_files.remove(made.record)
    found = made.verify()
    assert (found.exit_code, found.files) == (3, ())


@pytest.mark.parametrize("edit", ["digests", "skills[0]"])
def test_a_git_tree_that_does_not_follow_from_the_files_is_noticed(
    made: Installation, edit: str
) -> None:
    """Also when nobody else speaks of the lock."""
    odd_files.remove(made.record)
    odd_files.remove(made.receipt)
    lock = InstalledBuilder().lock
    old = lock.digests.git_tree if edit == "digests" else lock.skills[0].git_tree
    made.lock.write_bytes(lock.to_bytes().replace(old.encode(), b"e" * 40, 1))
    found = made.verify()
    assert (found.lock.state, found.exit_code) == ("altered", 1)
    assert f"{edit}.git_tree" in found.lock.problems[0].message


def test_the_reason_names_file_and_cause_to_the_operator(made: Installation) -> None:
    """What the wire keeps to itself, the person who starts the server is told."""
    made.lock.write_bytes(LOCK_EDITS["merge_conflict"](made.lock.read_bytes()))
    problem = made.catalog().problem()
    assert isinstance(problem, BundleUnavailableError)
    assert problem.problems[0].code == "merge_conflict"
    assert problem.problems[0].path == "acme_skills/.agents/catalog.lock.json"


def test_a_wheel_built_without_hooks_says_how_it_came_about(made: Installation) -> None:
    """No `.agents` folder at all: the hook did not run. Serving and verification both say so."""
    odd_files.remove(made.bundle)
    made.write_record()
    problem = made.catalog().problem()
    assert isinstance(problem, BundleUnavailableError)
    assert "HATCH_BUILD_NO_HOOKS" in str(problem)
    found = made.verify()
    assert found.exit_code == 3
    assert [row.code for row in found.lock.problems] == ["no_bundle"]
