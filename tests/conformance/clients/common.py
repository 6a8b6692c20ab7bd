"""What the programs on Python share; standard library only, since each has another environment."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Call = Callable[[str, dict[str, Any]], Awaitable[tuple[bool, dict[str, Any]]]]
    """Tool and arguments to: was it refused, and the structured answer."""

TOOLS: Final = {"skill_catalog_search", "skill_resource_read", "skill_catalog_overview"}
PAGE: Final = 3000
"""Bytes asked for at once: little, so that reading takes several pages."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What the installed lock says must be served.

    Attributes:
        skills: Path of each skill.
        digests: URI of every file to its SHA-256, lower-case hex.
    """

    skills: tuple[str, ...]
    digests: dict[str, str]

    @classmethod
    def load(cls, file: Path) -> Lock:
        """Read a lock."""
        value = json.loads(file.read_text(encoding="utf-8"))
        digests = {
            f"skill://{skill['path']}/{entry['path']}": entry["sha256"]
            for skill in value["skills"]
            for entry in skill["files"]
        }
        return cls(tuple(skill["path"] for skill in value["skills"]), digests)

    @property
    def folder(self) -> str:
        """URI of the first skill's folder."""
        return f"skill://{self.skills[0]}"

    @property
    def children(self) -> set[str]:
        """URIs of what is directly in that folder."""
        inside = [uri.removeprefix(f"{self.folder}/") for uri in self.digests]
        names = [name for name in inside if not name.startswith("skill://")]
        return {f"{self.folder}/{name.split('/')[0]}" for name in names}

    def one_a_kind(self) -> list[str]:
        """Return one URI for each ending of a file's name."""
        return list({Path(uri).suffix: uri for uri in self.digests}.values())


@dataclass(frozen=True, slots=True)
class Task:
    """The program's argument."""

    era: str
    transport: str
    command: tuple[str, ...]
    url: str
    lock: Lock


def task() -> Task:
    """Read the program's argument."""
    value = json.loads(sys.argv[1])
    lock = Lock.load(Path(value["lock"]))
    return Task(value["era"], value["transport"], tuple(value["command"]), value["url"], lock)


def report(scenario: str, error: str = "") -> None:
    """Print one line."""
    line = {"scenario": scenario, "error": error} if error else {"scenario": scenario}
    print(json.dumps(line), flush=True)  # noqa: T201 - the driver reads it


async def attempt(scenario: str, action: Awaitable[None]) -> None:
    """Do something, and report how it went."""
    try:
        await action
    except Exception as error:  # noqa: BLE001 - whatever a library of others raises is a result
        report(scenario, f"{type(error).__name__}: {error}")
    else:
        report(scenario)


async def try_tools(call: Call, lock: Lock) -> None:
    """Try the tools, however they are called."""
    await attempt("tools/call: search", _search(call, lock))
    await attempt("tools/call: read every SKILL.md in pages", _read(call, lock))
    await attempt("tools/call: refused with a code", _refused(call))


async def _search(call: Call, lock: Lock) -> None:
    refused, answer = await call("skill_catalog_search", {})
    assert not refused
    assert answer["total"] == len(lock.skills)


async def _read(call: Call, lock: Lock) -> None:
    for skill in lock.skills:
        text, offset = "", 0
        while offset is not None:
            arguments = {"skill": skill, "offset": offset, "limit": PAGE}
            refused, answer = await call("skill_resource_read", arguments)
            assert not refused, answer
            text, offset = text + answer["content"], answer["next_offset"]
        same(text.encode(), lock.digests[f"skill://{skill}/SKILL.md"])


async def _refused(call: Call) -> None:
    refused, answer = await call("skill_resource_read", {"skill": "no-such-skill"})
    assert refused
    assert answer["error"]["code"] == "resource_unavailable"


def same(data: bytes, digest: str) -> None:
    """Check that bytes are the locked ones."""
    assert hashlib.sha256(data).hexdigest() == digest, "other bytes than the locked ones"
