"""Core metadata as hatchling writes it, compared with the `[project]` table."""

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

pytestmark = pytest.mark.slow

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
    """Return a wheel with one text of METADATA replaced."""
    wheel = sample.wheel()
    text = open_archive(wheel).members[METADATA].data
    assert old in text
    return rewritten(wheel, {METADATA: text.replace(old, new)})


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """Return a committed project with requirements of many forms."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.configure("\n[tool.hatch.metadata]\nallow-direct-references = true")
    return sample.replace("pyproject.toml", 'version = "1.0"\n', REQUIREMENTS).committed()


def test_requirements_are_compared_in_any_spelling(sample: SampleProject) -> None:
    """The spelling of hatchling depends on its version."""
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


def test_a_long_chain_of_extras_is_read(sample: SampleProject) -> None:
    """Extras that require each other, with a cycle at the end."""
    wheel = sample.wheel()
    rows = [f'x{n} = ["acme.skills[x{(n + 1) % 2000}]"]' for n in range(2000)]
    sample.replace("pyproject.toml", "none = []", "\n".join(rows)).committed()
    found = row(verified(wheel, sample.folder, Wanted("HEAD")), METADATA)
    assert (found.state, "Requires-Dist" in found.detail) == ("generated", False)


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
def test_a_change_that_affects_installers_is_reported(
    sample: SampleProject, old: bytes, new: bytes
) -> None:
    """In each field that an installer uses."""
    found = row(verified(changed(sample, old, new), sample.folder), METADATA)
    assert found.state == "differs"
    assert "in pyproject.toml" in found.detail


def test_a_version_in_a_file_is_read_as_data(sample: SampleProject) -> None:
    """Nothing is imported."""
    sample.replace("pyproject.toml", 'version = "1.0"\n', 'dynamic = ["version"]\n')
    sample.write("src/acme_skills/_v.py", b'import nothing\n\n__version__ = "1.0"\n')
    sample.configure('\n[tool.hatch.version]\npath = "src/acme_skills/_v.py"').committed()
    found = verified(sample.wheel(), sample.folder)
    assert (found.verdict, found.differences) == ("match", ())
    assert "not compared" not in row(found, METADATA).detail
    other = changed(sample, b"Version: 1.0", b"Version: 1.1")
    assert row(verified(other, sample.folder), METADATA).state == "differs"


def test_fields_computed_by_code_are_listed_and_not_compared(sample: SampleProject) -> None:
    """For example a requirement with a context field of hatchling."""
    sample.replace(
        "pyproject.toml", '"Some_Thing', '"local @ {root:uri}/local", "Some_Thing'
    ).committed()
    found = verified(sample.wheel(), sample.folder)
    assert "Requires-Dist is computed by code" in row(found, METADATA).detail


def test_a_very_long_requirement_is_read(sample: SampleProject) -> None:
    """A configuration may be hostile."""
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
def test_requirements_are_found_where_installers_find_them(
    sample: SampleProject, line: bytes
) -> None:
    """In any case, and after characters that only look like a line end."""
    wheel = changed(sample, b"Requires-Python: ", line + b"Requires-Python: ")
    assert row(verified(wheel, sample.folder), METADATA).state == "differs"


@pytest.mark.parametrize(
    "table",
    ["[[project.dynamic]]\na = 1", "[project.scripts]\na = 1", "[project.optional-dependencies]"],
)
def test_a_malformed_configuration_does_not_crash(sample: SampleProject, table: str) -> None:
    """The archive need not be built from the commit."""
    wheel = sample.wheel()
    text = (
        f'[build-system]\nrequires = 5\n[project]\nname = "acme.skills"\nversion = "1"\n{table}\n'
    )
    sample.write("pyproject.toml", text.encode()).committed()
    assert verified(wheel, sample.folder, Wanted("HEAD")).verdict == "differs"


def test_unclosed_brackets_are_not_a_project(sample: SampleProject) -> None:
    """The error is the same as for any file that is not TOML."""
    wheel = sample.wheel()
    sample.write("pyproject.toml", b"x = " + b"[" * 100_000).committed()
    with pytest.raises(SourceMismatchError):
        verified(wheel, sample.folder, Wanted("HEAD"))
