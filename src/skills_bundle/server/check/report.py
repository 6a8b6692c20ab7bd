"""Record: the result of `mcp check`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from skills_bundle.errors import SkillsBundleError
from skills_bundle.files.paths import shown

if TYPE_CHECKING:
    from pydantic import JsonValue

Verdict: TypeAlias = Literal["ok", "wrong", "cannot_tell"]


class StepError(SkillsBundleError):
    """A step failed, so the check ends.

    Attributes:
        verdict: `wrong`, or `cannot_tell`.
        detail: One sentence.
    """

    def __init__(self, verdict: Verdict, detail: str) -> None:
        """Store both for the report."""
        super().__init__(detail)
        self.verdict: Verdict = verdict
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a check.

    Attributes:
        name: `start`, `tools`, `search`, `read`, `lock`, `skills` or `overview`.
        verdict: `cannot_tell` if nothing wrong was found and nothing was proved either.
        detail: The result or the reason; one sentence.
        milliseconds: Duration; of `start`, including the start of the process.
    """

    name: str
    verdict: Verdict
    detail: str
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """A complete check; it ends with the first step that is wrong.

    Attributes:
        command: The command that was started.
        steps: In order.
        provenance: The server's claim; None if it made none, or serves several collections.
        stderr_tail: The end of the server's standard error, if a step was not ok.
        stdout_line: The start of a line on standard output that is not JSON-RPC, or "".
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
    def problems(self) -> tuple[str, ...]:
        """A line for each step that was not ok."""
        return tuple(f"{step.name}: {step.detail}" for step in self.steps if step.verdict != "ok")

    @property
    def exit_code(self) -> int:
        """0 if every step was ok, 1 if one was wrong, else 3."""
        verdicts = {step.verdict for step in self.steps}
        return 1 if "wrong" in verdicts else 3 if "cannot_tell" in verdicts else 0

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the report as a JSON object; bytes that are not UTF-8 are escaped."""
        return {
            "ok": not self.problems,
            "command": [*map(shown, self.command)],
            "steps": [asdict(step) for step in self.steps],
            "provenance": self.provenance,
            "collections": None if self.collections is None else [*self.collections],
            "problems": [*self.problems],
            "stderr_tail": self.stderr_tail,
            "stdout_line": self.stdout_line,
            "environment": [*map(shown, self.environment)],
        }
