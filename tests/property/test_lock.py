"""Laws of the lock: reading undoes writing, order does not matter, only a difference is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.bundle import assemble, lock
from skills_bundle.errors import InvalidLockError
from skills_bundle.files import paths
from skills_bundle.skills import rules
from skills_bundle.skills.model import ScanResult, SkillFile
from skills_bundle.skills.rules import Candidate
from tests.builders import skill_md

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock

Content: TypeAlias = "dict[str, dict[str, tuple[bytes, bool]]]"

file_names = st.text(st.sampled_from("abcz.-_é"), min_size=1, max_size=6).filter(
    lambda name: not paths.problems(name)
)
contents = st.dictionaries(
    st.text(st.sampled_from("abz019-é小"), min_size=1, max_size=6),
    st.dictionaries(file_names, st.tuples(st.binary(max_size=20), st.booleans()), max_size=4),
    max_size=4,
)


def candidates(content: Content) -> list[Candidate]:
    """Return skill folders with a valid SKILL.md each."""
    return [candidate(name, files) for name, files in content.items()]


def candidate(name: str, files: dict[str, tuple[bytes, bool]]) -> Candidate:
    """Return one skill folder."""
    text = skill_md(f"'{name}'").encode()
    rows = {"SKILL.md": (text, False), **files}
    return Candidate(
        path=name,
        files=tuple(
            SkillFile(path=path, data=rows[path][0], executable=rows[path][1])
            for path in sorted(rows, key=str.encode)
        ),
    )


def assembled(found: list[Candidate]) -> CatalogLock | None:
    """Lock the candidates, or give None if one is refused."""
    skills, refused = rules.judge(found)
    result = ScanResult(
        skills=skills, refused=refused, excluded=(), without_skill_md=(), unlocked=()
    )
    return None if refused else assemble.lock("sample", result)


@given(contents)
def test_reading_undoes_writing(content: Content) -> None:
    """Whatever gets in can be locked, and its lock can be read."""
    found = assembled(candidates(content))
    assert found is None or lock.parse(found.to_bytes()) == found


@given(contents.flatmap(lambda content: st.permutations(candidates(content))))
def test_order_does_not_matter(shuffled: list[Candidate]) -> None:
    """A lock made of shuffled skills is the same bytes."""
    ordered = sorted(shuffled, key=lambda row: row.path)
    assert assembled(shuffled) == assembled(ordered)


@given(contents, contents)
def test_locks_differ_exactly_where_their_bytes_do(one: Content, other: Content) -> None:
    """An empty difference is the same file, and the same file is an empty difference."""
    old, new = assembled(candidates(one)), assembled(candidates(other))
    if old is not None and new is not None:
        assert bool(assemble.compare(old, new)) == (old.to_bytes() != new.to_bytes())


@given(contents, contents)
def test_a_difference_seen_backwards_swaps_added_and_removed(one: Content, other: Content) -> None:
    """And keeps what changed."""
    old, new = assembled(candidates(one)), assembled(candidates(other))
    if old is not None and new is not None:
        there, back = assemble.compare(old, new), assemble.compare(new, old)
        assert (there.added, there.removed, there.changed) == (
            back.removed,
            back.added,
            back.changed,
        )


@given(contents, st.binary(max_size=8), st.integers(0, 10**6))
def test_any_bytes_put_into_a_lock_are_refused_or_read_to_the_same_bytes(
    content: Content, inserted: bytes, place: int
) -> None:
    """There is one rendering, so nothing can be read that would be written otherwise."""
    found = assembled(candidates(content))
    data = b"" if found is None else found.to_bytes()
    at = place % (len(data) + 1)
    data = data[:at] + inserted + data[at:]
    try:
        written = lock.parse(data).to_bytes()
    except InvalidLockError:
        written = data
    assert written == data


@given(st.lists(st.text(st.sampled_from("aAbßs/é\u0301ﬁKK"), min_size=1, max_size=5), max_size=6))
def test_collisions_do_not_depend_on_order(some: list[str]) -> None:
    """Nor does a path collide with itself."""
    assert paths.collisions(some) == paths.collisions(some[::-1])
    assert all(one != other for one, other in paths.collisions(some))
