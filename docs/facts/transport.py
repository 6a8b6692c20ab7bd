"""What each kind of input is answered with, from the conversations that the tests replay."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from facts import limits
from facts.markdown import code, table
from skills_bundle.formats import strict_json
from skills_bundle.server.stdio import transport as strict_stdio

if TYPE_CHECKING:
    from collections.abc import Iterable

CONVERSATIONS = Path(__file__).parents[2] / "tests" / "vectors" / "conversations"
MAX_BYTES = 1 << 20

PLACES = {None: "", True: ", first line of a connection", False: ", any later line"}


def lines() -> str:
    """Return one row for each line of the table that the tests try."""
    rows = cast(
        "list[dict[str, Any]]",
        strict_json.loads((CONVERSATIONS / "lines.json").read_bytes(), limit=MAX_BYTES),
    )
    cells = [(row["why"] + PLACES[row.get("first")], _line_answer(row["answer"])) for row in rows]
    return table(("Line", "Answer"), cells)


def _line_answer(answer: str | dict[str, Any]) -> str:
    if isinstance(answer, str):
        return {"message": "handled", "nothing": "nothing"}[answer]
    whose = "id null" if answer["id"] is None else "the request's id"
    return f"{code(answer['code'])}, {whose}"


def revisions() -> str:
    """Return one table of what a client does and how each protocol revision answers."""
    files = [*sorted(CONVERSATIONS.glob("handshake-*.jsonl")), *CONVERSATIONS.glob("discovery-*")]
    answers = {_revision(path): _answers(path) for path in files}
    rows = [
        (note, *(found.get(note, "not sent") for found in answers.values()))
        for note in _merged(answers.values())
    ]
    return table(("The client sends", *answers), rows)


def _revision(path: Path) -> str:
    return path.stem.partition("-")[2]


def _answers(path: Path) -> dict[str, str]:
    """Return each note of an exchange with the answers to its steps."""
    found: dict[str, list[str]] = {}
    notes: list[str] = []
    for line in path.read_bytes().splitlines():
        step = cast("dict[str, Any]", strict_json.loads(line, limit=MAX_BYTES))
        if "note" in step:
            notes.append(step["note"])
            found[notes[-1]] = []
        elif "receive" in step:
            found[notes[-1]].append(_answer(step["receive"]))
    return {
        note: ", ".join(each for each, _ in groupby(given)) or "nothing"
        for note, given in found.items()
    }


def _answer(message: dict[str, Any]) -> str:
    if "error" in message:
        return code(message["error"]["code"])
    result = cast("dict[str, Any]", message["result"])
    if "protocolVersion" in result:
        return f"result, `{result['protocolVersion']}`"
    return "result, `isError`" if "isError" in result else "result"


def _merged(sequences: Iterable[Iterable[str]]) -> list[str]:
    """Return every note once, each after the one it follows in its own exchange."""
    merged: list[str] = []
    for sequence in sequences:
        place = 0
        for note in sequence:
            if note not in merged:
                merged.insert(place, note)
            place = merged.index(note) + 1
    return merged


def openings() -> str:
    """Return one table for each way to open a connection."""
    paths = sorted(CONVERSATIONS.glob("opening-*.jsonl"))
    return "\n\n".join(table(("Step", "Answer"), _answers(path).items()) for path in paths)


def endings() -> str:
    """Return why a connection ends, and the exit code of the process."""
    found = [each for each in vars(strict_stdio).values() if isinstance(each, strict_stdio.Ending)]
    rows = [(f"{each.reason[0].upper()}{each.reason[1:]}.", str(each.exit_code)) for each in found]
    return table(("The connection ends because", "Exit code"), rows)


def bounds() -> str:
    """Return the limits of the transport, by name."""
    return limits.sections()["Transport"]
