"""Record: what lock and receipt have in common: closed, frozen, strict, every problem at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from skills_bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


class Record(BaseModel):
    """A closed, immutable JSON object: unknown keys are errors, nothing is converted."""

    # defer_build: a command that reads no receipt does not pay for its validator.
    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        defer_build=True,
        json_schema_serialization_defaults_required=True,
    )


Sha256Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$", max_length=64)]
"""SHA-256 as 64 lower-case hex digits."""

ObjectId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$", max_length=40)]
"""A git object id: SHA-1 as 40 lower-case hex digits."""


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Turn pydantic's report into our problems, each with its path (`skills[3].files[0].size`)."""
    return tuple(
        Problem(code=row["type"], message=row["msg"], path=dotted(row["loc"]))
        for row in error.errors(include_url=False, include_context=False, include_input=False)
    )


def dotted(steps: Sequence[int | str]) -> str:
    """Write a path into a document the way people do: names with dots, indexes in brackets."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
