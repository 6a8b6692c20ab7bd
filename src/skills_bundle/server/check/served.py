"""Edge: what a server that is checked serves, one collection or several, tried by a skill each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from skills_bundle.catalog import uris
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server.check.answers import ask, demand_progress
from skills_bundle.server.check.lock import LockOnDisk
from skills_bundle.server.check.words import StopError, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.client.client import Client
    from pydantic import JsonValue

    from skills_bundle.server.check.answers import JsonObject
    from skills_bundle.server.check.report import Verdict


Demand: TypeAlias = LockOnDisk | str | Mapping[str, LockOnDisk | str]
"""What a server must serve: one lock, or one for each collection by name; a sentence in a lock's
place says why there is none."""


@dataclass(slots=True)
class Served:
    """One collection of a server.

    Attributes:
        name: As the server calls it; None where it serves one and names none.
        provenance: As the server claims it; None if it says that it cannot serve this one.
        total: How many skills it says there are.
        skill: The row of its first skill; None if there is none.
        digest: SHA-256 of that skill's SKILL.md as it was read.
    """

    name: str | None
    provenance: JsonObject | None
    total: int
    skill: JsonObject | None
    digest: str = ""

    @property
    def base(self) -> str:
        """What URIs of this collection begin with."""
        return uris.SCHEME if self.name is None else uris.base_of(self.name)

    @property
    def path(self) -> str:
        """The path of its first skill."""
        return "" if self.skill is None else str(self.skill["path"])

    @property
    def catalog(self) -> str:
        """The digest of the lock that the server says it serves."""
        return str((self.provenance or {}).get("catalog_sha256"))

    def said(self, text: str) -> str:
        """Give a sentence about it with its name in front, if it has one."""
        return text if self.name is None else f"{self.name}: {text}"


async def search(client: Client) -> list[Served]:
    """Search for everything, and in each collection on its own.

    Raises:
        StopError: If there is no skill at all.
    """
    found = await ask(client, "skill_catalog_search", {"limit": 1})
    if "collections" not in found:
        served = [_served(None, found, cast("JsonObject", found["provenance"]))]
    else:
        states = cast("list[JsonObject]", found["collections"])
        served = [await _search_in(client, state) for state in states]
    if not any(one.skill for one in served):
        raise StopError("wrong", "The catalog holds no skill.")
    return served


async def _search_in(client: Client, state: JsonObject) -> Served:
    name = str(state["collection"])
    if state["provenance"] is None:
        return Served(name, None, 0, None)
    found = await ask(client, "skill_catalog_search", {"limit": 1, "collection": name})
    (own,) = cast("list[JsonObject]", found["collections"])
    return _served(name, found, cast("JsonObject", own["provenance"]))


def _served(name: str | None, found: JsonObject, provenance: JsonObject) -> Served:
    rows = cast("list[JsonObject]", found["skills"])
    return Served(name, provenance, cast("int", found["total"]), rows[0] if rows else None)


def searched(served: Sequence[Served]) -> str:
    """Say what was found."""
    return "; ".join(one.said(_searched(one)) for one in served)


def _searched(one: Served) -> str:
    if one.skill is None:
        return "no skill" if one.provenance is not None else "cannot be served, it says"
    first = ": " if one.total == 1 else ", the first is "
    return f"{count(one.total, 'skill')}{first}{one.skill['name']}"


async def read(client: Client, one: Served) -> str:
    """Read a skill's SKILL.md page by page; keeps its digest and says what was seen.

    Raises:
        StopError: If the pages do not give what they claim.
    """
    which: JsonObject = {} if one.name is None else {"collection": one.name}
    pieces: list[str] = []
    offset: JsonValue = 0
    read = 0
    page: JsonObject = {}
    while offset is not None:
        arguments = {"skill": one.path, "offset": offset, **which}
        page = await ask(client, "skill_resource_read", arguments)
        pieces.append(cast("str", page["content"]))
        read += len(pieces[-1].encode())
        demand_progress(page, read)
        offset = page["next_offset"]
    data = "".join(pieces).encode()
    one.digest = sha256_hex(data)
    if (len(data), one.digest) != (page["byte_length"], page["content_sha256"]):
        raise StopError("wrong", "The pages joined do not have the size and digest they claim.")
    pages = count(len(pieces), "page")
    return f"{one.path}/SKILL.md, {count(len(data), 'byte')} in {pages}"


def compare(one: Served, lock: LockOnDisk | str) -> tuple[Verdict, str]:
    """Compare what was read of a collection with its lock; not knowing does not end the check.

    Args:
        one: The collection.
        lock: Its lock, or a sentence that says why there is none.

    Raises:
        StopError: If it is not what the lock says, and this lock is the one it must serve.
    """
    if one.provenance is None:
        return "cannot_tell", "The server says that it cannot serve it."
    if not isinstance(lock, LockOnDisk):
        return "cannot_tell", lock
    if one.catalog != lock.sha256 and lock.named:
        raise StopError(
            "wrong", f"The server serves another catalog ({one.catalog[:12]}…) than {lock.path} is."
        )
    if one.catalog != lock.sha256:
        return "cannot_tell", (
            f"The server serves another catalog ({one.catalog[:12]}…) than the lock of this "
            f"installation ({lock.sha256[:12]}…), so its text was compared only with itself."
        )
    if one.skill is None:
        return "ok", f"no skill, as in {lock.path}"
    if lock.skill_md_digest(one.path) != one.digest:
        raise StopError("wrong", "The text is not what the lock says it must be.")
    return "ok", f"sha256 {one.digest[:12]}… as in {lock.path}"


def compare_all(served: Sequence[Served], lock: Demand) -> tuple[Verdict, str]:
    """Compare what was read of every collection with its lock.

    Args:
        served: What the server serves.
        lock: What it must serve.

    Raises:
        StopError: If it does not serve what it must.
    """
    pairs = _pairs(served, lock)
    compared = [(one, *_compared(one, own)) for one, own in pairs]
    verdicts = {verdict for _, verdict, _ in compared}
    told = "; ".join(one.said(text) for one, _, text in compared)
    return "ok" if verdicts == {"ok"} else "cannot_tell", told


def _compared(one: Served, lock: LockOnDisk | str) -> tuple[Verdict, str]:
    try:
        return compare(one, lock)
    except StopError as error:
        raise StopError(error.verdict, one.said(error.detail)) from error


def _pairs(served: Sequence[Served], lock: Demand) -> list[tuple[Served, LockOnDisk | str]]:
    """Give each collection with the lock to compare it with.

    Raises:
        StopError: If one that must be served is not.
    """
    if isinstance(lock, str):
        return [(one, lock) for one in served]
    if isinstance(lock, LockOnDisk):
        # Of several only one can be of this lock, and the others were not asked about.
        meant = [one for one in served if one.catalog == lock.sha256] or served[:1]
        return [(one, lock) for one in meant]
    keyed = {one.name or str((one.provenance or {}).get("collection")): one for one in served}
    absent = [
        name
        for name, own in lock.items()
        if name not in keyed and isinstance(own, LockOnDisk) and own.named
    ]
    if absent:
        raise StopError("wrong", f"Not served: {', '.join(absent)}.")
    unknown = "It is not installed here, so there is no lock to compare it with."
    return [(one, lock.get(key, unknown)) for key, one in keyed.items()]
