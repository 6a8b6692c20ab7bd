"""Record: what `mcp check` saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from skills_bundle.files.names import shown

if TYPE_CHECKING:
    from pydantic import JsonValue

Verdict: TypeAlias = Literal["ok", "wrong", "cannot_tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that was tried.

    Attributes:
        name: `start`, `tools`, `search`, `read`, `lock`, `skills` or `overview`.
        verdict: `cannot_tell` where nothing is wrong that we know of, and nothing was shown either.
        detail: What was seen, or why not; one sentence.
        milliseconds: From asking to knowing; of `start`, from spawning the process.
    """

    name: str
    verdict: Verdict
    detail: str
    milliseconds: float

    @property
    def ok(self) -> bool:
        """Whether it worked."""
        return self.verdict == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """A whole check; it ends with the first step that is wrong.

    Attributes:
        command: What was started.
        steps: In order.
        provenance: As the server claims it, or None if no answer carried one, or several.
        stderr_tail: The end of what the server wrote to standard error, if a step was not ok.
        stdout_line: What the server wrote to standard output that is not JSON-RPC, or "".
        environment: Names of the variables that the server was given.
        collections: Name and provenance of each collection, if the server serves several.
    """

    command: tuple[str, ...]
    steps: tuple[Step, ...]
    provenance: dict[str, JsonValue] | None
    stderr_tail: str
    stdout_line: str = ""
    environment: tuple[str, ...] = ()
    collections: tuple[dict[str, JsonValue], ...] | None = None

    @property
    def ok(self) -> bool:
        """Whether every step worked."""
        return all(step.ok for step in self.steps)

    @property
    def problems(self) -> tuple[str, ...]:
        """Give a line for each step that did not work."""
        return tuple(f"{step.name}: {step.detail}" for step in self.steps if not step.ok)

    @property
    def exit_code(self) -> int:
        """Give 0 if it works, 1 if something is wrong, 3 if it cannot be told."""
        verdicts = {step.verdict for step in self.steps}
        return 1 if "wrong" in verdicts else 3 if "cannot_tell" in verdicts else 0

    def to_dict(self) -> dict[str, JsonValue]:
        """Give it for programs; of what is not UTF-8, its escapes."""
        return {
            "ok": self.ok,
            "command": [*map(shown, self.command)],
            "steps": [
                {
                    "name": step.name,
                    "verdict": step.verdict,
                    "detail": step.detail,
                    "milliseconds": step.milliseconds,
                }
                for step in self.steps
            ],
            "provenance": self.provenance,
            "collections": None if self.collections is None else [*self.collections],
            "problems": [*self.problems],
            "stderr_tail": self.stderr_tail,
            "stdout_line": self.stdout_line,
            "environment": [*map(shown, self.environment)],
        }
