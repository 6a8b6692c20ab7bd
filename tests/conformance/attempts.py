"""Decision: from an action that raises or not to what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.rows import Seen

if TYPE_CHECKING:
    from collections.abc import Callable


def attempt(
    client: str, version: str, way: tuple[str, str], scenario: str, action: Callable[[], None]
) -> Seen:
    """Run one action.

    Args:
        client: Who tries.
        version: Of the client.
        way: Era and transport.
        scenario: What is tried; also the name of its one check.
        action: Raises if it does not work.
    """
    problem = ""
    try:
        action()
    except (AssertionError, LookupError, TypeError, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
    return seen(client, version, way, scenario, problem)


def seen(client: str, version: str, way: tuple[str, str], scenario: str, problem: str) -> Seen:
    """Return whether a scenario with one check passed."""
    return Seen(
        client=client,
        version=version,
        era=way[0],
        transport=way[1],
        scenario=scenario,
        passed=0 if problem else 1,
        failed=(scenario,) if problem else (),
        detail=" ".join(problem.split())[:400],
    )
