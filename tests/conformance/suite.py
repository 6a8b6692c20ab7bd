"""Edge: the official conformance suite, which needs HTTP."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.room import node_packages
from tests.conformance.rows import Seen

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.conformance.room import Room

CLIENT: Final = "@modelcontextprotocol/conformance"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
EXTENSIONS: Final = {"sep-2640-skills": REVISIONS, "tasks": ("2026-07-28",)}
"""Start of the names of an extension's scenarios, and the revisions to ask for them by name: an
extension is on no revision's list."""

WIRE: Final = "wire-schema-valid"
"""The check that every message fits the schema: part of each scenario, and not its subject."""


def run(room: Room, url: str) -> Generator[Seen]:
    """Run every scenario of each revision, and those of extensions."""
    for revision in REVISIONS:
        output = room.folder / "suite" / revision
        shutil.rmtree(output, ignore_errors=True)
        command = (room.program("conformance"), "server", "--url", url, "-o", output)
        command = (*command, "--spec-version", revision)
        room.run(*command, "--suite", "all", limit=600)
        extensions = _extensions(room, revision)
        for scenario in extensions:
            room.run(*command, "--scenario", scenario, "--force")
        found = {_name(folder): folder for folder in sorted(output.glob("server-*"))}
        for scenario in (*_listed(room, "--spec-version", revision), *extensions):
            yield _seen(found.get(scenario), revision, scenario)


def _extensions(room: Room, revision: str) -> list[str]:
    starts = tuple(start for start, revisions in EXTENSIONS.items() if revision in revisions)
    return [name for name in _listed(room) if name.startswith(starts)]


def _listed(room: Room, *options: str) -> list[str]:
    """Ask the suite what it has, so that nothing is left out unseen."""
    said = room.run(room.program("conformance"), "list", "--server", *options)
    return re.findall(r"^ +- (\S+)", said.stdout, re.MULTILINE)


def _name(folder: Path) -> str:
    """Return the scenario of a folder called `server-SCENARIO-TIME`."""
    return folder.name.removeprefix("server-").rsplit("-", 6)[0]


def _seen(folder: Path | None, revision: str, scenario: str) -> Seen:
    checks = [] if folder is None else _checks(folder / "checks.json")
    # A warning is a SHOULD that is not followed; that needs a reason, too.
    failed = [check for check in checks if check["status"] in {"FAILURE", "WARNING"}]
    held = [check for check in checks if check["status"] == "SUCCESS" and check["id"] != WIRE]
    return Seen(
        client=CLIENT,
        version=node_packages()[CLIENT],
        era=revision,
        transport="http",
        scenario=scenario,
        passed=len(held),
        failed=tuple(sorted({check["id"] for check in failed})),
        detail="; ".join(check.get("errorMessage", "") for check in failed),
    )


def _checks(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
