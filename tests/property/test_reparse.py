"""Laws of entries: whatever has one is read by every YAML reader as the entry says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.bundle import assemble
from skills_bundle.catalog import resources
from skills_bundle.skills.model import FileFacts, ScanResult, SkillFile
from skills_bundle.skills.rules import Candidate, judge
from skills_bundle.skills.scan import scan
from tests.property.test_frontmatter import pieces
from tests.reparse.readers import READERS, outcome, same, through_the_wire
from tests.repository.pages import ROOT

if TYPE_CHECKING:
    from skills_bundle.skills.model import Skill

VECTORS = sorted((ROOT / "tests/vectors/frontmatter/accept").glob("*.md"))


def entry_of(data: bytes, name: str) -> Any:
    """Return the frontmatter of the entry of a SKILL.md, or None if it is refused or has none."""
    file = SkillFile(path="SKILL.md", data=data, executable=False)
    skills, _ = judge([Candidate(path=name, files=(file,))])
    return listed(skills).get(name)


def listed(skills: tuple[Skill, ...]) -> dict[str, Any]:
    """Lock skills and give the frontmatter of each that has an entry, as it arrives in JSON."""
    result = ScanResult(skills=skills, refused=(), excluded=(), without_skill_md=(), unlocked=())
    built = resources.entries(assemble.lock("sample", result))
    return {
        str(entry.value["uri"]).split("/")[-2]: through_the_wire(entry.value["frontmatter"])
        for entry in built.listed.values()
    }


def disagreements(data: bytes, expected: Any) -> dict[str, Any]:
    """Return every reader with a different result, and that result."""
    found = {name: outcome(read, data) for name, read in READERS.items()}
    return {name: value for name, value in found.items() if not same(expected, value)}


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_a_vector_with_an_entry_is_read_alike(path: Any) -> None:
    """The published frontmatter, whichever of it has an entry."""
    data = path.read_bytes()
    name = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["fields"]["name"]
    expected = entry_of(data, str(name))
    assert expected is None or disagreements(data, expected) == {}


def test_most_vectors_have_an_entry() -> None:
    """So that the test above tests something."""
    names = [
        (path.read_bytes(), json.loads(path.with_suffix(".json").read_text("utf-8"))["fields"])
        for path in VECTORS
    ]
    found = [entry_of(data, str(fields["name"])) for data, fields in names]
    assert sum(one is not None for one in found) > len(VECTORS) // 3


def test_our_own_skills_all_have_entries_that_are_read_alike() -> None:
    """Nothing of ours is left out."""
    found = scan(ROOT / "skills", FileFacts())
    made = listed(found.skills)
    data = {skill.name: (ROOT / "skills" / skill.path / "SKILL.md") for skill in found.skills}
    assert made.keys() == data.keys()
    assert {name: disagreements(data[name].read_bytes(), made[name]) for name in made} == {
        name: {} for name in made
    }


@given(pieces)
def test_any_frontmatter_with_an_entry_is_read_alike(more: str) -> None:
    """However odd: it agrees, or it has no entry."""
    data = f"---\nname: x\ndescription: d\n{more}\n---\n".encode("utf-8", "surrogatepass")
    expected = entry_of(data, "x")
    assert expected is None or disagreements(data, expected) == {}


@given(st.text(max_size=60), st.sampled_from(["'", '"', ""]))
def test_any_value_with_an_entry_is_read_alike(value: str, quote: str) -> None:
    """In both quotes and in none."""
    text = f"---\nname: x\ndescription: d\nnote: {quote}{value}{quote}\n---\n"
    data = text.encode("utf-8", "surrogatepass")
    expected = entry_of(data, "x")
    assert expected is None or disagreements(data, expected) == {}
