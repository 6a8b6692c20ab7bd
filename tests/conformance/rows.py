"""Record: what a client saw, what was expected to fail and why, and the table of both."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KINDS: Final = ("not_applicable", "in_part", "by_choice", "expected_failure")
"""`not_applicable`: the scenario is about something we do not offer. `in_part`: some of its checks
are, the others hold. `by_choice`: a SHOULD that is not followed, the rest holds.
`expected_failure`: we do it wrong, and know it."""

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One scenario as a client ran it.

    Attributes:
        client: Who tried.
        version: Of the client.
        era: Protocol revision, or how it was negotiated.
        transport: `stdio` or `http`.
        scenario: What was tried.
        passed: Checks that held.
        failed: Names of the checks that did not, sorted.
        detail: What the client said about those.
    """

    client: str
    version: str
    era: str
    transport: str
    scenario: str
    passed: int = 0
    failed: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """One scenario that is known not to pass, and exactly how.

    Attributes:
        client: Who tries.
        era: Protocol revision.
        transport: `stdio` or `http`.
        scenario: What is tried.
        kind: One of `KINDS`.
        reason: Why; one sentence.
        fails: Names of exactly the checks that fail, sorted; none if the scenario ends well without
            having tried anything of ours.
    """

    client: str
    era: str
    transport: str
    scenario: str
    kind: str
    reason: str
    fails: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.client, self.era, self.transport, self.scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the result: `passed`, `failed`, or the kind of an exemption."""

    client: str
    version: str
    era: str
    transport: str
    scenario: str
    result: str
    reason: str = ""


def exemptions(text: str) -> tuple[Exemption, ...]:
    """Read the list of exemptions, one a scenario and revision.

    Raises:
        ValueError: If a kind is unknown or a scenario is exempt twice.
    """
    found = [
        Exemption(
            client=entry["client"],
            era=era,
            transport=entry["transport"],
            scenario=scenario,
            kind=entry["kind"],
            reason=entry["reason"],
            fails=tuple(sorted(fails)),
        )
        for entry in tomllib.loads(text)["exemption"]
        for era in entry["eras"]
        for scenario, fails in entry["fails"].items()
    ]
    wrong = [f"unknown kind: {each}" for each in found if each.kind not in KINDS]
    counted = Counter(each.key for each in found)
    wrong += [f"exempt {times} times: {key}" for key, times in counted.items() if times > 1]
    if wrong:
        raise ValueError("\n".join(wrong))
    return tuple(found)


def judge(seen: Iterable[Seen], known: Iterable[Exemption]) -> tuple[tuple[Row, ...], list[str]]:
    """Hold what was seen against what is known.

    An exemption must describe exactly what happens: one that is used up, or whose scenario was not
    run, is as wrong as a failure.

    Returns:
        The rows in the order seen, and every problem in words.
    """
    left = {each.key: each for each in known}
    rows: list[Row] = []
    problems: list[str] = []
    for each in seen:
        exemption = left.pop((each.client, each.era, each.transport, each.scenario), None)
        result, reason, problem = _verdict(each, exemption)
        rows.append(_row(each, result, reason))
        problems += [f"{_name(rows[-1])}: {problem}"] if problem else []
    problems += [f"{' / '.join(key)}: is exempt, but was not run" for key in left]
    return tuple(rows), problems


def _verdict(seen: Seen, known: Exemption | None) -> tuple[str, str, str]:
    """Return result, reason and problem."""
    if known is not None and known.fails == seen.failed:
        return known.kind, known.reason, ""
    problem = _problem(seen, known)
    return ("failed", problem, problem) if problem else ("passed", "", "")


def _problem(seen: Seen, known: Exemption | None) -> str:
    """Return what is wrong with a scenario that is not what its exemption says, or has none."""
    failed = ", ".join(seen.failed)
    if known is not None and not failed:
        return "passes now; strike its exemption"
    if known is not None:
        expected = ", ".join(known.fails) or "nothing"
        return f"{failed} failed, expected was {expected}; {seen.detail}"
    if failed:
        return seen.detail or failed
    return "" if seen.passed else "nothing was checked"


def _row(seen: Seen, result: str, reason: str) -> Row:
    return Row(
        client=seen.client,
        version=seen.version,
        era=seen.era,
        transport=seen.transport,
        scenario=seen.scenario,
        result=result,
        reason=reason,
    )


def _name(row: Row) -> str:
    return f"{row.client} {row.version} / {row.era} / {row.transport} / {row.scenario}"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as columns of text, and a line of totals."""
    head = ("client", "version", "era", "transport", "scenario", "result", "reason")
    lines = [head, *(tuple(asdict(row).values()) for row in rows)]
    widths = [max(map(len, column)) for column in tuple(zip(*lines, strict=True))[:-1]]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, (*widths, 0), strict=True))
        for line in lines
    ]
    return "\n".join([*(line.rstrip() for line in text), "", totals(rows)])


def totals(rows: Iterable[Row]) -> str:
    """Return how many rows have which result."""
    counted = Counter(row.result for row in rows)
    return ", ".join(f"{number} {result.replace('_', ' ')}" for result, number in counted.items())


def dump(rows: Iterable[Row], **facts: str) -> str:
    """Return the text of a results file; the same run gives the same text."""
    lines = ",\n".join(f"    {json.dumps(asdict(row), ensure_ascii=False)}" for row in rows)
    head = "".join(f'  "{name}": {json.dumps(value)},\n' for name, value in facts.items())
    return f'{{\n{head}  "rows": [\n{lines}\n  ]\n}}\n'


def load(text: str) -> tuple[dict[str, str], tuple[Row, ...]]:
    """Read a results file: its facts and its rows."""
    value: dict[str, Any] = json.loads(text)
    rows = tuple(Row(**row) for row in value.pop("rows"))
    return value, rows
