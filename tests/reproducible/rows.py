"""Record: one variation of a build, what it was expected to give and gave, and the table of all."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.reproducible.room import Room

CLEAN: Final = "clean"
GENERATOR: Final = "generator"
NO_BUNDLE: Final = "no bundle"
REFUSED: Final = "refused: "
"""Before what a build that is refused says."""
NOTHING: Final = "-"


class NotRunError(Exception):
    """This machine, or this project, cannot have the variation; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """One circumstance that is changed, with everything else as it was.

    Attributes:
        group: What kind of circumstance.
        name: Which, in a few words.
        build: Prepares it and builds, in a folder of its own.
        expect: `clean`: the receipt names the commit and the bytes are that commit's; `generator`:
            so is everything but the line that names hatchling's version; a reason code: the receipt
            names no commit, for this reason; `no bundle`; or `refused: ` and what is said.
    """

    group: str
    name: str
    build: Callable[[Room], None]
    expect: str = CLEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One archive that came out.

    Attributes:
        kind: Of archive.
        receipt: `clean`, a state and its reason, or `no bundle`.
        difference: How it differs from a plain build of the commit that its receipt names, or of
            the commit that was checked out if it names none; "" if not a bit.
        generator_only: Whether that is the version of hatchling and no more.
    """

    kind: Literal["wheel", "sdist"]
    receipt: str
    difference: str = ""
    generator_only: bool = False

    @property
    def breaks_the_law(self) -> bool:
        """Whether a receipt names a commit whose bytes these are not."""
        return self.receipt == CLEAN and self.difference != "" and not self.generator_only

    def is_as(self, expect: str) -> bool:
        """Return whether it matches what a variation expects."""
        if expect == CLEAN:
            return self.receipt == CLEAN and not self.difference
        if expect == GENERATOR:
            same = self.generator_only if self.kind == "wheel" else not self.difference
            return self.receipt == CLEAN and same
        return self.receipt.rpartition(": ")[2] == expect


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    project: str
    group: str
    variation: str
    wheel: str
    sdist: str
    receipt: str
    result: Literal["as expected", "UNEXPECTED", "not run"]
    note: str = ""


def judge(project: str, variation: Variation, seen: Sequence[Seen], refusal: str) -> Row:
    """Hold what came out against what was expected, and against the law.

    Args:
        project: Name of what was built.
        variation: What was changed.
        seen: The archives.
        refusal: What a build that failed said; "" if none failed.
    """
    note = _problem(variation.expect, seen, refusal)
    receipts = sorted({each.receipt for each in seen})
    return Row(
        project=project,
        group=variation.group,
        variation=variation.name,
        wheel=_cell(seen, "wheel"),
        sdist=_cell(seen, "sdist"),
        receipt=", ".join(receipts) or (variation.expect if refusal and not note else NOTHING),
        result="UNEXPECTED" if note else "as expected",
        note=note,
    )


def not_run(project: str, variation: Variation, why: str) -> Row:
    """Return the row of what could not be tried."""
    return Row(
        project=project,
        group=variation.group,
        variation=variation.name,
        wheel=NOTHING,
        sdist=NOTHING,
        receipt=NOTHING,
        result="not run",
        note=why,
    )


def _cell(seen: Iterable[Seen], kind: str) -> str:
    found = sorted({each.difference or "equal" for each in seen if each.kind == kind})
    return "; ".join(found) or NOTHING


def _problem(expect: str, seen: Sequence[Seen], refusal: str) -> str:
    """Return what is wrong; "" if nothing is."""
    if any(each.breaks_the_law for each in seen):
        return "a receipt names a commit whose bytes these are not"
    if expect.startswith(REFUSED):
        said = expect.removeprefix(REFUSED)
        expected = said in refusal and not seen
        return "" if expected else f"expected was a refusal: {refusal[-400:].strip()}"
    if refusal:
        return f"the build failed: {refusal[-800:].strip()}"
    expected = bool(seen) and all(each.is_as(expect) for each in seen)
    return "" if expected else f"expected was: {expect}"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as columns of text, and a line of totals."""
    head = ("project", "group", "variation", "wheel", "sdist", "receipt", "result", "note")
    lines = [
        head,
        *(tuple(" ".join(cell.split()) for cell in asdict(row).values()) for row in rows),
    ]
    widths = [max(map(len, column)) for column in tuple(zip(*lines, strict=True))[:-1]]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, (*widths, 0), strict=True))
        for line in lines
    ]
    return "\n".join([*(line.rstrip() for line in text), "", totals(rows)])


def totals(rows: Iterable[Row]) -> str:
    """Return how many rows have which result."""
    counted = Counter(row.result for row in rows)
    return ", ".join(f"{number} {result}" for result, number in sorted(counted.items()))


def dump(rows: Iterable[Row], **facts: str) -> str:
    """Return the rows as JSON, one a line."""
    lines = ",\n".join(f"    {json.dumps(asdict(row), ensure_ascii=False)}" for row in rows)
    head = "".join(f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in facts.items())
    return f'{{\n{head}  "rows": [\n{lines}\n  ]\n}}\n'
