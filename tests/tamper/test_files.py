"""Files of an installed bundle altered in every way: the state each gets, what is still served."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import ToolError
from skills_bundle.formats import strict_json
from tests import odd_files
from tests.installed_builder import SAMPLE, InstalledBuilder
from tests.tamper.changes import FILE_CHANGES, append

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.installed_builder import Installation

TARGET = "alpha/references/guide.md"
ROW = f"acme_skills/.agents/skills/{TARGET}"
CAFE = unicodedata.normalize("NFC", "references/café.md")


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.mark.parametrize("name", FILE_CHANGES)
def test_verification_names_the_file_and_its_state(made: Installation, name: str) -> None:
    """Exit 1, the file's row in its state, and lock and receipt as they were."""
    change, state = FILE_CHANGES[name]
    change(made.skills / TARGET)
    found = made.verify()
    assert (found.exit_code, found.verdict) == (1, "differs")
    assert {row.path: row.state for row in found.differences}[ROW] == state
    assert (found.lock.state, found.receipt.state) == ("ok", "ok")


@pytest.mark.parametrize("name", FILE_CHANGES)
def test_the_file_is_not_served_and_the_others_are(made: Installation, name: str) -> None:
    """The altered one is refused; the rest comes with the gap and without a revision."""
    catalog = made.catalog()
    assert catalog.read("alpha", "references/guide.md").content == "# Guide\n\nRead me.\n"
    change, _ = FILE_CHANGES[name]
    change(made.skills / TARGET)
    with pytest.raises(ToolError) as refused:
        catalog.read("alpha", "references/guide.md")
    assert refused.value.code == "resource_unavailable"
    other = catalog.read("beta")
    assert other.content.encode() == SAMPLE["group/beta"]["SKILL.md"]
    assert "altered_files" in other.provenance.gaps
    assert other.provenance.resolved_git_sha is None
    assert other.provenance.source_provenance.integrity == "unavailable"


def test_a_flipped_bit_anywhere_in_any_file_is_noticed(made: Installation) -> None:
    """Every seventh bit of every locked file, one at a time."""
    for path in sorted(path for path in made.skills.rglob("*") if path.is_file()):
        data = path.read_bytes()
        row = path.relative_to(made.site).as_posix()
        for bit in range(0, len(data) * 8, 7):  # 7 is prime to 8: every bit position comes up
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(flipped)
            assert [one.path for one in made.verify().differences] == [row]
        path.write_bytes(data)


def test_a_file_put_back_is_served_again(made: Installation) -> None:
    """Nothing is remembered against a file that is what was locked."""
    catalog, file = made.catalog(), made.skills / TARGET
    data = file.read_bytes()
    append(file)
    assert catalog.search().provenance.gaps == ("altered_files",)
    file.write_bytes(data)
    answer = catalog.read("alpha", "references/guide.md")
    assert answer.provenance.gaps == ()
    assert answer.provenance.resolved_git_sha is not None


def test_an_unreadable_file_is_not_served(tmp_path: Path) -> None:
    """Mode 000 is neither changed nor missing, and takes nothing else down."""
    del tmp_path
    with odd_files.unprivileged_folder() as folder:
        made = InstalledBuilder().install(folder)
        (made.skills / TARGET).chmod(0)
        with odd_files.without_privileges():
            found = made.verify()
            served = made.catalog().read("beta").skill
    assert (found.exit_code, [row.state for row in found.differences]) == (3, ["unreadable"])
    assert found.gaps == ("unreadable_files",)
    assert served == "beta"


@pytest.mark.parametrize("extra", [False, True])
def test_a_folder_that_nobody_may_list_hides_no_extra_file(*, extra: bool) -> None:
    """Its files are read all the same, by name; what else lies there cannot be told."""
    with odd_files.unprivileged_folder() as folder:
        made = InstalledBuilder().install(folder)
        if extra:
            (made.skills / "alpha/more.md").write_bytes(b"Obey.")
        (made.skills / "alpha").chmod(0o711)
        with odd_files.without_privileges():
            found = made.verify()
            served = made.catalog().read("alpha").skill
    assert (found.exit_code, found.gaps) == (3, ("unseen_entries",))
    assert served == "alpha"


@dataclass(frozen=True)
class Move:
    """Files that changed places."""

    change: Callable[[Installation], None]
    states: dict[str, str]


def _rename(made: Installation) -> None:
    (made.skills / TARGET).rename(made.skills / "alpha/references/other.md")


def _rename_case(made: Installation) -> None:
    (made.skills / TARGET).rename(made.skills / "alpha/references/Guide.md")


def _rename_folder_case(made: Installation) -> None:
    (made.skills / "group").rename(made.skills / "Group")


def _swap(made: Installation) -> None:
    one, other = made.skills / TARGET, made.skills / "alpha/references/deep/more.md"
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def _add(made: Installation) -> None:
    (made.skills / "alpha/references/new.md").write_bytes(b"Obey me.\n")


def _add_skill(made: Installation) -> None:
    (made.skills / "gamma").mkdir()
    (made.skills / "gamma/SKILL.md").write_bytes(b"---\nname: gamma\ndescription: x\n---\n")


def _add_link(made: Installation) -> None:
    (made.skills / "alpha/passwd.md").symlink_to("/etc/passwd")


def _add_beside_skills(made: Installation) -> None:
    (made.bundle / "notes.txt").write_bytes(b"")


def _remove_skill(made: Installation) -> None:
    odd_files.remove(made.skills / "group")


BELOW = "acme_skills/.agents/skills/"
MOVES: dict[str, Move] = {
    "rename": Move(_rename, {ROW: "missing", f"{BELOW}alpha/references/other.md": "extra"}),
    "rename_case": Move(
        _rename_case, {ROW: "missing", f"{BELOW}alpha/references/Guide.md": "extra"}
    ),
    "rename_folder_case": Move(
        _rename_folder_case,
        {
            f"{BELOW}Group/beta/SKILL.md": "extra",
            f"{BELOW}Group/beta/assets/logo.bin": "extra",
            f"{BELOW}group/beta/SKILL.md": "missing",
            f"{BELOW}group/beta/assets/logo.bin": "missing",
        },
    ),
    "swap": Move(_swap, {f"{BELOW}alpha/references/deep/more.md": "changed", ROW: "changed"}),
    "add": Move(_add, {f"{BELOW}alpha/references/new.md": "extra"}),
    "add_skill": Move(_add_skill, {f"{BELOW}gamma/SKILL.md": "extra"}),
    "add_link": Move(_add_link, {f"{BELOW}alpha/passwd.md": "extra"}),
    "add_beside_skills": Move(_add_beside_skills, {"acme_skills/.agents/notes.txt": "extra"}),
    "remove_skill": Move(
        _remove_skill,
        {
            f"{BELOW}group/beta/SKILL.md": "missing",
            f"{BELOW}group/beta/assets/logo.bin": "missing",
        },
    ),
}
"""What happens to several files, and every row that somebody has something against."""


@pytest.mark.parametrize("name", MOVES)
def test_files_that_change_places_are_each_named(made: Installation, name: str) -> None:
    """Exit 1 with exactly these rows."""
    MOVES[name].change(made)
    found = made.verify()
    assert found.exit_code == 1
    assert {row.path: row.state for row in found.differences} == MOVES[name].states


@pytest.mark.parametrize(
    ("skill", "resource"),
    [
        ("gamma", "SKILL.md"),
        ("alpha", "references/new.md"),
        ("alpha", "references/Guide.md"),
        ("alpha", "references/evil.md"),
    ],
)
def test_what_is_not_locked_is_not_served(made: Installation, skill: str, resource: str) -> None:
    """The lock says what there is; a listing never does."""
    _add(made)
    _add_skill(made)
    (made.skills / "alpha/references/evil.md").symlink_to("/etc/passwd")
    with pytest.raises(ToolError) as refused:
        made.catalog().read(skill, resource)
    assert refused.value.code == "resource_unavailable"


def test_extra_files_take_nothing_away(made: Installation) -> None:
    """They are told, and the revision still stands: what is served is what was locked."""
    _add(made)
    block = made.catalog().search().provenance
    assert block.gaps == ("extra_files",)
    assert block.source_provenance.integrity == "verified"
    assert block.resolved_git_sha is not None


def test_a_name_in_another_normal_form_is_another_file(tmp_path: Path) -> None:
    """A file renamed from NFC to NFD is missing, and its new name is extra."""
    skills = {"alpha": {"SKILL.md": SAMPLE["alpha"]["SKILL.md"], CAFE: b"# Caf\xc3\xa9\n"}}
    made = InstalledBuilder(skills=skills).install(tmp_path)
    decomposed = unicodedata.normalize("NFD", CAFE)
    (made.skills / "alpha" / CAFE).rename(made.skills / "alpha" / decomposed)
    states = {row.path: row.state for row in made.verify().differences}
    assert states == {
        f"{BELOW}alpha/{CAFE}": "missing",
        f"{BELOW}alpha/{decomposed}": "extra",
    }


def test_a_name_that_is_not_utf8_is_reported(made: Installation) -> None:
    """Bytes that are no text are shown as escapes, and the report is still JSON."""
    with open(os.fsencode(made.skills / "alpha") + b"/\xff.md", "wb"):  # noqa: PTH123 -- bytes
        pass
    (row,) = made.verify().differences
    assert (row.path, row.state) == (f"{BELOW}alpha/\\xff.md", "extra")
    assert made.verify().model_dump_json()


def test_a_folder_whose_name_is_not_utf8_hides_nothing(made: Installation) -> None:
    """It is listed by its bytes and told by its escapes."""
    folder = os.fsencode(made.skills / "alpha") + b"/\xff"
    os.mkdir(folder)  # noqa: PTH102 -- bytes
    with open(folder + b"/x.md", "wb"):  # noqa: PTH123 -- bytes
        pass
    (row,) = made.verify().differences
    assert (row.path, row.state) == (f"{BELOW}alpha/\\xff/x.md", "extra")


def test_an_installation_whose_path_is_not_utf8_is_told_as_json(tmp_path: Path) -> None:
    """Its place is shown with escapes."""
    made = InstalledBuilder().install(tmp_path / os.fsdecode(b"site-\xff"))
    found = made.verify()
    assert found.exit_code == 0
    assert strict_json.pretty(found.to_dict())


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("alpha/scripts/__pycache__/run.cpython-311.pyc", "tolerated"),
        ("alpha/scripts/__pycache__/run.cpython-311.opt-1.pyc", "tolerated"),
        ("alpha/scripts/__pycache__/other.cpython-311.pyc", "extra"),
        ("alpha/scripts/run.pyc", "extra"),
        ("alpha/__pycache__/run.cpython-311.pyc", "extra"),
        ("alpha/scripts/__pycache__/run.py", "extra"),
    ],
)
def test_byte_code_is_tolerated_only_where_python_caches_it(
    made: Installation, path: str, state: str
) -> None:
    """Of a locked source, in its cache folder; anywhere else it is extra."""
    file = made.skills / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"\0")
    found = made.verify()
    assert {row.path: row.state for row in found.files}[BELOW + path] == state
    assert found.exit_code == (0 if state == "tolerated" else 1)


def test_byte_code_that_is_a_link_is_extra(made: Installation) -> None:
    """What Python caches is a file."""
    cache = made.skills / "alpha/scripts/__pycache__"
    cache.mkdir()
    (cache / "run.cpython-311.pyc").symlink_to("/etc/passwd")
    assert [row.state for row in made.verify().differences] == ["extra"]


@pytest.mark.parametrize("folder", ["", "alpha", ".."])
def test_a_linked_folder_takes_what_is_below_it_down(made: Installation, folder: str) -> None:
    """The skills folder, one skill, or the whole bundle moved away and linked back."""
    place = (made.skills / folder).resolve()
    moved = place.with_name(place.name + ".moved")
    place.rename(moved)
    place.symlink_to(moved)
    found = made.verify()
    assert found.exit_code == 1
    if folder == "..":
        assert found.lock.state == "linked"
    else:
        assert f"{BELOW}alpha/SKILL.md" in {
            row.path for row in found.differences if row.state == "linked"
        }
