"""Edge: try whole collections: `python -m tests.reparse FOLDER CLONE [CLONE ...]`.

FOLDER is where the npm package goes. Each CLONE is a git checkout, or any folder of skills; its top
is taken as the skills folder. For each one: how many skills can be locked, how many of them have an
entry, and whether every reader finds in SKILL.md what the entry says. For those without an entry:
the reason, and how many of them every reader happens to read alike. Exits 1 if a reader disagrees
with an entry.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills_bundle.bundle import assemble
from skills_bundle.catalog import resources
from skills_bundle.project import file_facts
from skills_bundle.skills.scan import scan
from tests.reparse import node
from tests.reparse.readers import READERS, ends_in_a_line_break, outcome, same, through_the_wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one collection gave.

    Attributes:
        name: Of its folder.
        locked: Skills that can be locked.
        listed: Skills that have an entry.
        reasons: Skills without one, by reason.
        needless: Of these, those that every reader reads alike, by reason.
        cut: Skills with an entry that a host finds other by one line break, if it drops the one
            before the closing dashes.
        wrong: Each reader that disagrees with an entry, and the skill.
    """

    name: str
    locked: int
    listed: int
    reasons: Counter[str]
    needless: Counter[str]
    cut: int
    wrong: tuple[str, ...]


def try_out(clone: Path, folder: Path) -> Row:
    """Lock what can be locked, and have every SKILL.md read by everybody."""
    found = scan(clone, file_facts.open_facts(clone, ".", None).facts)
    usable = replace(found, refused=(), problems=(), unlocked=())
    lock = assemble.lock("collection", usable)
    built = resources.entries(lock)
    data = [(clone / skill.path / "SKILL.md").read_bytes() for skill in lock.skills]
    readings = [
        {**{name: outcome(read, one) for name, read in READERS.items()}, node.NAME: by_node}
        for one, by_node in zip(data, node.read(folder, data), strict=True)
    ]
    wrong: list[str] = []
    needless: Counter[str] = Counter()
    for skill, reading in zip(lock.skills, readings, strict=True):
        differing = differences(through_the_wire(skill.frontmatter), reading)
        reason = built.unlisted.get(skill.path)
        if reason is None:
            wrong += [f"{name}: {skill.path}" for name in differing]
        elif not differing:
            needless[reason] += 1
    return Row(
        name=clone.name,
        locked=len(lock.skills),
        listed=len(built.listed),
        reasons=Counter(built.unlisted.values()),
        needless=needless,
        cut=sum(
            ends_in_a_line_break(skill.frontmatter)
            for skill in lock.skills
            if skill.path not in built.unlisted
        ),
        wrong=tuple(wrong),
    )


def differences(ours: Any, readings: dict[str, Any]) -> list[str]:
    """Return the readers with a different result."""
    return [name for name, theirs in readings.items() if not same(ours, theirs)]


def report(rows: Sequence[Row]) -> Iterable[str]:
    """Return the lines to print."""
    for row in rows:
        yield f"{row.name}: {row.listed} of {row.locked} skills have an entry"
        for reason, count in row.reasons.most_common():
            yield f"  {reason}: {count} (read alike all the same: {row.needless[reason]})"
        if row.cut:
            yield f"  {row.cut} with an entry end in a block whose last line break some hosts drop"
        yield from (f"  DISAGREES {each}" for each in row.wrong)
    listed, locked = sum(row.listed for row in rows), sum(row.locked for row in rows)
    wrong = sum(len(row.wrong) for row in rows)
    yield f"{listed} of {locked} skills have an entry; {wrong} readings disagree with one"


def main(arguments: Sequence[str]) -> int:
    """Do it all and give the exit code."""
    folder = Path(arguments[0])
    node.install(folder)
    rows = [try_out(Path(clone).resolve(), folder) for clone in arguments[1:]]
    sys.stdout.writelines(f"{line}\n" for line in report(rows))
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
