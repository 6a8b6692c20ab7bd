"""Core metadata as hatchling writes it, compared with the project's own table as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.reading import open_archive
from skills_bundle.errors import SourceMismatchError
from skills_bundle.supply_chain.source.verify import Wanted
from tests.hatch_plugin.sample import SampleProject
from tests.supply_chain.source_samples import DIST_INFO, rewritten, row, verified

if TYPE_CHECKING:
    from pathlib import Path

METADATA = f"{DIST_INFO}/METADATA"

REQUIREMENTS = """\
version = "1.0"
requires-python = ">=3.11,!=3.13.1"
dependencies = [
  "Some_Thing >= 2 , <3",
  "other[b,A]~=1.0; python_version<'3.14' and sys_platform == \\"linux\\"",
  "direct @ https://acme.example/direct-1.0.tar.gz",
]
[project.optional-dependencies]
Extra_One = ["more>1", "most; python_version < '4'"]
none = []
"""


def changed(sample: SampleProject, old: bytes, new: bytes) -> Path:
    """Give a wheel whose METADATA has one text in place of another."""
    wheel = sample.wheel()
    text = open_archive(wheel).members[METADATA].data
    assert old in text
    return rewritten(wheel, {METADATA: text.replace(old, new)})


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Give a committed project that requires this and that."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.configure("\n[tool.hatch.metadata]\nallow-direct-references = true")
    return sample.replace("pyproject.toml", 'version = "1.0"\n', REQUIREMENTS).committed()


def test_requirements_are_compared_however_they_are_spelled(sample: SampleProject) -> None:
    """Hatchling spells them in its own way, which depends on its version."""
    found = verified(sample.wheel(), sample.folder)
    assert (found.verdict, found.differences) == ("match", ())


SELF_REFERENCES = """\
version = "1.0"
dependencies = ["plain; extra == 'All'"]
[project.optional-dependencies]
docs-x = ["sphinx>1"]
all = ["acme.skills[docs_x]", "more; python_version < '4' or os_name == 'nt'"]
"""


def test_extras_are_compared_as_installers_read_them(tmp_path: Path) -> None:
    """An extra of the project itself, two spellings of one, a marker with `extra`."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.replace("pyproject.toml", 'version = "1.0"\n', SELF_REFERENCES).committed()
    found = verified(sample.wheel(), sample.folder)
    assert (found.verdict, found.differences) == ("match", ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Name: Acme.Skills", b"Name: Acme.Other"),
        (b"Version: 1.0", b"Version: 1.1"),
        (b"Requires-Python: ", b"Requires-Python: >=3,"),
        (b"Requires-Dist: more", b"Requires-Dist: less"),
        (b"Requires-Dist: other", b"Requires-Dist: evil\nRequires-Dist: other"),
        (b"Provides-Extra: none", b"Requires-Dist: evil; extra == 'none'\nProvides-Extra: none"),
        (b"3.14", b"3.15"),
    ],
)
def test_what_decides_about_an_installation_is_noticed(
    sample: SampleProject, old: bytes, new: bytes
) -> None:
    """Each field that an installer acts on."""
    found = row(verified(changed(sample, old, new), sample.folder), METADATA)
    assert found.state == "differs"
    assert "in pyproject.toml" in found.detail


def test_a_version_that_lies_in_a_file_is_read_as_data(sample: SampleProject) -> None:
    """Hatchling searches the file, too; nothing is imported."""
    sample.replace("pyproject.toml", 'version = "1.0"\n', 'dynamic = ["version"]\n')
    sample.write("src/acme_skills/_v.py", b'import nothing\n\n__version__ = "1.0"\n')
    sample.configure('\n[tool.hatch.version]\npath = "src/acme_skills/_v.py"').committed()
    found = verified(sample.wheel(), sample.folder)
    assert (found.verdict, found.differences) == ("match", ())
    assert "not compared" not in row(found, METADATA).detail
    other = changed(sample, b"Version: 1.0", b"Version: 1.1")
    assert row(verified(other, sample.folder), METADATA).state == "differs"


def test_what_code_gives_is_named_and_not_compared(sample: SampleProject) -> None:
    """A requirement that hatchling fills in."""
    sample.replace(
        "pyproject.toml", '"Some_Thing', '"local @ {root:uri}/local", "Some_Thing'
    ).committed()
    found = verified(sample.wheel(), sample.folder)
    assert "Requires-Dist is computed by code" in row(found, METADATA).detail


def test_a_requirement_of_any_length_is_read(sample: SampleProject) -> None:
    """A configuration may be hostile, too."""
    blanks = "x" + " " * 1_000_000
    text = f'dependencies = [\n  "{blanks};{blanks}",'
    sample.replace("pyproject.toml", "dependencies = [\n", text + "\n")
    wheel = SampleProject.create(sample.folder.parent / "other").wheel()
    sample.committed()
    found = verified(wheel, sample.folder, Wanted("HEAD"))
    assert row(found, METADATA).state == "differs"


@pytest.mark.parametrize(
    "line",
    [
        b"requires-dist: evil\n",
        b"Summary: a\x0c\x0c\nRequires-Dist: evil\n",
        "Summary: a\u2028\u2028\nRequires-Dist: evil\n".encode(),
        b"no field\n",
        b"Requires-Dist: more\n  ; extra == 'a'\n",
    ],
)
def test_requirements_are_found_wherever_an_installer_finds_them(
    sample: SampleProject, line: bytes
) -> None:
    """In any case, behind what only looks like the end of a line or of the head."""
    wheel = changed(sample, b"Requires-Python: ", line + b"Requires-Python: ")
    assert row(verified(wheel, sample.folder), METADATA).state == "differs"


@pytest.mark.parametrize(
    "table",
    ["[[project.dynamic]]\na = 1", "[project.scripts]\na = 1", "[project.optional-dependencies]"],
)
def test_configuration_of_any_shape_is_read_without_a_crash(
    sample: SampleProject, table: str
) -> None:
    """A commit holds what anybody wrote, and the archive need not be built from it."""
    wheel = sample.wheel()
    text = (
        f'[build-system]\nrequires = 5\n[project]\nname = "acme.skills"\nversion = "1"\n{table}\n'
    )
    sample.write("pyproject.toml", text.encode()).committed()
    assert verified(wheel, sample.folder, Wanted("HEAD")).verdict == "differs"


def test_brackets_without_end_are_no_project(sample: SampleProject) -> None:
    """Told like any file that is not TOML."""
    wheel = sample.wheel()
    sample.write("pyproject.toml", b"x = " + b"[" * 100_000).committed()
    with pytest.raises(SourceMismatchError):
        verified(wheel, sample.folder, Wanted("HEAD"))
