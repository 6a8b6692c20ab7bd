"""Edge: the steps of `mcp check`: ask a server, compare its answers with each other and a lock.

Nothing the server claims is trusted: digests are computed here, and the lock is read as plain JSON,
without the code that serves it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from mcp_types import PaginatedRequestParams, PaginatedResult, Request, TextResourceContents

from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.bundle import lock
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.catalog import resources
from skills_bundle.errors import (
    BundleUnavailableError,
    InvalidLockError,
    MalformedJsonError,
    Problem,
)
from skills_bundle.files import reading
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.installed import location as installed
from skills_bundle.server import limits
from skills_bundle.server.check.report import StepError, Verdict
from skills_bundle.server.resources import SKILLS_EXTENSION
from skills_bundle.skills import limits as skill_limits
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcp.client.client import Client
    from pydantic import JsonValue

    from skills_bundle.installed.location import Installed

    JsonObject: TypeAlias = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class LockOnDisk:
    """A lock file as JSON, without any rules.

    Attributes:
        path: The file.
        sha256: Digest of its bytes.
        value: Its JSON.
        required: Whether the server must serve this lock; otherwise a server of another catalog is
            not wrong.
    """

    path: Path
    sha256: str
    value: Any
    required: bool = False

    def skill_md_digest(self, skill_path: str) -> str | None:
        """Return the locked digest of a skill's SKILL.md, or None if the lock has no such skill."""
        for skill in self.value["skills"]:
            for file in skill["files"]:
                if (skill["path"], file["path"]) == (skill_path, SKILL_MD):
                    return str(file["sha256"])
        return None


ExpectedLocks: TypeAlias = LockOnDisk | str | Mapping[str, LockOnDisk | str]
"""What a server is compared with: one lock, or one for each collection by name; instead of a lock,
a sentence that says why there is none."""


def read_lock(find: Callable[[], Installed] | None = None) -> LockOnDisk | str:
    """Read the lock of an installed package, or return a sentence that says why there is none.

    Of a package that runs from its source, this is the project's committed lock.

    Args:
        find: Locates the package whose lock the server must serve; by default the package is ours,
            and a server of another catalog is not wrong.
    """
    try:
        place = installed.locate() if find is None else find()
    except BundleUnavailableError as error:
        return error.summary
    path = place.site / place.lock_path
    if place.project is not None:
        path = place.project / LOCK_FILE_NAME
    try:
        data = reading.read_named(path, bundle_limits.LOCK_MAX_BYTES)
        value = strict_json.loads(data, limit=bundle_limits.LOCK_MAX_BYTES)
    except (OSError, MalformedJsonError):
        return f"There is no lock to compare with: {path} is missing or cannot be read."
    # A package in its source serves the current files, and the committed lock may be older.
    required = find is not None and place.project is None
    return LockOnDisk(path, sha256_hex(data), value, required)


def read_named(path: Path) -> LockOnDisk:
    """Read the lock that the caller named; the server must serve it.

    Raises:
        InvalidLockError: If it is not a valid lock, with every problem.
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(bundle_limits.LOCK_MAX_BYTES + 1)
    try:
        lock.parse(data)  # only here: a file that is not a lock is the caller's mistake
    except InvalidLockError as error:
        problems = tuple(_in_file(path, problem) for problem in error.problems)
        raise InvalidLockError("The named file is not a valid lock.", problems) from error
    value = strict_json.loads(data, limit=bundle_limits.LOCK_MAX_BYTES)
    return LockOnDisk(path, sha256_hex(data), value, required=True)


def _in_file(path: Path, problem: Problem) -> Problem:
    """Return the problem with the file as the caller named it before the place inside it."""
    inside = "" if problem.path in {None, LOCK_FILE_NAME} else f": {problem.path}"
    return replace(problem, path=f"{path}{inside}")


@dataclass(slots=True)
class ServedCollection:
    """One collection of a server.

    Attributes:
        name: The server's name for it; None if the server serves one collection and names none.
        provenance: The server's claim; None if the server says that it cannot serve the collection.
        total: Number of skills that the server claims.
        skill: The row of its first skill; None if it has none.
        digest: SHA-256 of that skill's SKILL.md, computed from what was read.
    """

    name: str | None
    provenance: JsonObject | None
    total: int
    skill: JsonObject | None
    digest: str = ""

    @property
    def path(self) -> str:
        """The path of its first skill."""
        return "" if self.skill is None else str(self.skill["path"])

    @property
    def catalog_sha256(self) -> str:
        """The digest of the lock that the server claims to serve."""
        return str((self.provenance or {}).get("catalog_sha256"))

    def prefixed(self, text: str) -> str:
        """Return a sentence about the collection, with its name in front if it has one."""
        return text if self.name is None else f"{self.name}: {text}"


async def call_tool(client: Client, tool: str, arguments: dict[str, Any]) -> JsonObject:
    """Call a tool and return its structured answer; the SDK checks it against the tool's schema.

    Raises:
        StepError: If the tool answers with an error.
        ValueError: If the answer is not JSON, although the SDK accepts it.
    """
    result = await client.call_tool(tool, arguments)
    answer = cast("JsonObject", result.structured_content)
    strict_json.compact(answer)  # NaN and lone surrogates would make the report invalid
    if not result.is_error:
        return answer
    error = cast("dict[str, str]", answer["error"])
    verdict: Verdict = "cannot_tell" if error["code"] == "catalog_unavailable" else "wrong"
    raise StepError(verdict, f"{tool} answers {error['code']}: {error['message']}")


async def search(client: Client) -> list[ServedCollection]:
    """Search for everything, and in each collection alone.

    Raises:
        StepError: If there is no skill at all.
    """
    answer = await call_tool(client, "skill_catalog_search", {"limit": 1})
    if "collections" not in answer:
        collections = [_collection(None, answer, cast("JsonObject", answer["provenance"]))]
    else:
        states = cast("list[JsonObject]", answer["collections"])
        collections = [await _search_in(client, state) for state in states]
    if not any(each.skill for each in collections):
        raise StepError("wrong", "The catalog has no skills.")
    return collections


async def _search_in(client: Client, state: JsonObject) -> ServedCollection:
    name = str(state["collection"])
    if state["provenance"] is None:
        return ServedCollection(name, None, 0, None)
    answer = await call_tool(client, "skill_catalog_search", {"limit": 1, "collection": name})
    (narrowed,) = cast("list[JsonObject]", answer["collections"])
    return _collection(name, answer, cast("JsonObject", narrowed["provenance"]))


def _collection(name: str | None, answer: JsonObject, provenance: JsonObject) -> ServedCollection:
    rows = cast("list[JsonObject]", answer["skills"])
    total = cast("int", answer["total"])
    return ServedCollection(name, provenance, total, rows[0] if rows else None)


ALTERED: Final[dict[str, str]] = {
    "altered_files": "the server reports files that were altered since the installation",
    "record_mismatch": "the server reports that RECORD does not match the installation",
    "extra_files": "the server reports files that the lock does not list",
}
"""Gaps that show a changed installation, and what the check says about each."""
UNREADABLE: Final[dict[str, str]] = {
    "unreadable_files": "the server reports files that it cannot read",
    "unseen_entries": "the server reports folders that it cannot look into",
    "record_unreadable": "the server reports that it cannot read RECORD",
}
"""Gaps under which a changed file may go unnoticed."""


def check_intact(collections: Sequence[ServedCollection]) -> None:
    """Check that no server reports a changed installation, whichever skill is read.

    Raises:
        StepError: With every such gap.
    """
    found = _gap_texts(collections, ALTERED)
    if found:
        raise StepError("wrong", f"{'; '.join(found)}.")


def _gap_texts(collections: Sequence[ServedCollection], texts: Mapping[str, str]) -> list[str]:
    return [
        each.prefixed(texts[gap])
        for each in collections
        for gap in cast("list[str]", (each.provenance or {}).get("gaps", []))
        if gap in texts
    ]


def describe(collection: ServedCollection) -> str:
    """Return what the search found in one collection."""
    if collection.skill is None:
        served = collection.provenance is not None
        return collection.prefixed("no skill" if served else "the server cannot serve it")
    first = ": " if collection.total == 1 else ", the first is "
    return collection.prefixed(
        f"{count(collection.total, 'skill')}{first}{collection.skill['name']}"
    )


async def read(client: Client, collection: ServedCollection) -> str:
    """Read a skill's SKILL.md page by page, store its digest and describe it.

    Raises:
        StepError: If the pages do not have the size and digest that they claim.
    """
    arguments: dict[str, Any] = {"skill": collection.path, "offset": 0}
    if collection.name is not None:
        arguments["collection"] = collection.name
    pieces: list[str] = []
    size = 0
    while True:
        page = await call_tool(client, "skill_resource_read", arguments)
        pieces.append(cast("str", page["content"]))
        size += len(pieces[-1].encode())
        _demand_progress(page, size)
        arguments["offset"] = page["next_offset"]
        if page["next_offset"] is None:
            break
    data = "".join(pieces).encode()
    collection.digest = sha256_hex(data)
    if (size, collection.digest) != (page["byte_length"], page["content_sha256"]):
        raise StepError("wrong", "The joined pages do not have the size and digest they claim.")
    pages = count(len(pieces), "page")
    return collection.prefixed(f"{collection.path}/{SKILL_MD}, {count(size, 'byte')} in {pages}")


def _demand_progress(page: JsonObject, size: int) -> None:
    """Refuse pages that cannot belong to one file, since they could go on forever.

    Args:
        page: Untrusted; a `KeyError` or `TypeError` is reported as a wrong answer.
        size: Bytes of all pages so far.

    Raises:
        StepError: If the pages exceed the file's claimed size or the limit of a file, or if the
            next page does not start at the end of this one.
    """
    length = cast("int", page["byte_length"])
    if size > min(length, skill_limits.SKILL_MAX_BYTES):
        raise StepError("wrong", f"The pages have more than the {length} bytes they claim.")
    following = page["next_offset"]
    if following is not None and (following != size or not page["content"]):
        raise StepError("wrong", "The pages do not advance.")


def compare_all(
    collections: Sequence[ServedCollection], locks: ExpectedLocks
) -> tuple[Verdict, str]:
    """Compare what was read of every collection with its lock.

    Args:
        collections: What the server serves.
        locks: What to compare it with.

    Raises:
        StepError: If the server does not serve what it must.
    """
    results = [compare(each, expected) for each, expected in _pairs(collections, locks)]
    unreadable = _gap_texts(collections, UNREADABLE)
    details = "; ".join([*unreadable, *(detail for _, detail in results)])
    same = not unreadable and all(verdict == "ok" for verdict, _ in results)
    return "ok" if same else "cannot_tell", details


def compare(collection: ServedCollection, expected: LockOnDisk | str) -> tuple[Verdict, str]:
    """Compare what was read of a collection with its lock.

    Args:
        collection: The collection.
        expected: Its lock, or a sentence that says why there is none.

    Raises:
        StepError: If the collection differs from its lock, or from the lock it must have.
    """
    if collection.provenance is None:
        return "cannot_tell", collection.prefixed("The server says that it cannot serve it.")
    if isinstance(expected, str):
        return "cannot_tell", collection.prefixed(expected)
    if collection.catalog_sha256 != expected.sha256:
        other = f"The server serves a different catalog ({collection.catalog_sha256[:12]}…) than"
        if expected.required:
            raise StepError("wrong", collection.prefixed(f"{other} {expected.path}."))
        return "cannot_tell", collection.prefixed(
            f"{other} the lock of this installation ({expected.sha256[:12]}…), so its text was "
            "compared only with itself."
        )
    if collection.skill is None:
        return "ok", collection.prefixed(f"no skill, as in {expected.path}")
    if expected.skill_md_digest(collection.path) != collection.digest:
        raise StepError("wrong", collection.prefixed("The text differs from the lock."))
    return "ok", collection.prefixed(f"sha256 {collection.digest[:12]}… as in {expected.path}")


def _pairs(
    collections: Sequence[ServedCollection], locks: ExpectedLocks
) -> list[tuple[ServedCollection, LockOnDisk | str]]:
    """Return each collection with the lock to compare it with.

    Raises:
        StepError: If a required collection is not served.
    """
    if isinstance(locks, str):
        return [(each, locks) for each in collections]
    if isinstance(locks, LockOnDisk):
        # At most one of several collections can have this lock; the others were not asked for.
        same = [each for each in collections if each.catalog_sha256 == locks.sha256]
        return [(each, locks) for each in same or collections[:1]]
    served = {
        each.name or str((each.provenance or {}).get("collection")): each for each in collections
    }
    missing = [
        name
        for name, expected in locks.items()
        if name not in served and isinstance(expected, LockOnDisk) and expected.required
    ]
    if missing:
        raise StepError("wrong", f"Not served: {', '.join(missing)}.")
    unknown = "It is not installed here, so there is no lock to compare it with."
    return [(each, locks.get(name, unknown)) for name, each in served.items()]


class ListSkillsRequest(Request[PaginatedRequestParams, Literal["skills/list"]]):
    """A request for one page of skills."""

    method: Literal["skills/list"] = "skills/list"


class ListSkillsResult(PaginatedResult):
    """One page of skills; a missing field of an entry is reported as a wrong answer."""

    skills: list[dict[str, Any]]


async def load_as_host(client: Client, collection: ServedCollection) -> str:
    """Load a skill as a host of the skills extension does, and describe the result.

    Lists the skills, reads one SKILL.md as an MCP resource, and compares it with its entry and with
    what the tool returned. If the skill that was read has no entry, another one is taken.

    Raises:
        StepError: If the extension is not declared, or the bytes, entry and tool disagree.
    """
    if SKILLS_EXTENSION not in (client.server_capabilities.extensions or {}):
        raise StepError("wrong", f"The server does not declare {SKILLS_EXTENSION}.")
    base = resources.SCHEME if collection.name is None else resources.base_of(collection.name)
    wanted = resources.uri_of(f"{collection.path}/{SKILL_MD}", base)
    number, entry = await _list_skills(client, wanted, base)
    if entry is None:
        return collection.prefixed("no skill is listed; the overview says why")
    uri = str(entry["uri"])
    data = await _read_resource(client, uri)
    digest = sha256_hex(data)
    claims = [(file["digest"], file["size"]) for file in entry["resources"] if file["uri"] == uri]
    if claims[:1] != [(f"sha256:{digest}", len(data))]:
        message = f"{uri} does not have the size and digest of its entry."
        raise StepError("wrong", collection.prefixed(message))
    if uri == wanted and digest != collection.digest:
        message = f"{uri} has other bytes than the tool returned."
        raise StepError("wrong", collection.prefixed(message))
    which = "the same SKILL.md" if uri == wanted else uri
    return collection.prefixed(f"{number} listed; {which} has its entry's digest")


async def _list_skills(client: Client, wanted: str, base: str) -> tuple[int, dict[str, Any] | None]:
    """Return the number of a collection's skills, and the wanted skill or else the first one.

    Only one entry is kept: a listing may be endless.
    """
    number = 0
    kept: dict[str, Any] | None = None
    cursor: str | None = None
    for _ in range(limits.CHECK_MAX_PAGES):
        request = ListSkillsRequest(params=PaginatedRequestParams(cursor=cursor))
        page = await client.session.send_request(request, ListSkillsResult)
        for skill in page.skills:
            if skill["uri"].startswith(base):
                number += 1
                kept = skill if kept is None or skill["uri"] == wanted else kept
        cursor = page.next_cursor
        if cursor is None:
            return number, kept
    raise StepError("wrong", f"skills/list has no end after {limits.CHECK_MAX_PAGES} pages.")


async def _read_resource(client: Client, uri: str) -> bytes:
    contents = (await client.read_resource(uri)).contents
    if len(contents) != 1:
        raise StepError("wrong", f"{uri} has {len(contents)} contents instead of one.")
    only = contents[0]
    if isinstance(only, TextResourceContents):
        return only.text.encode()
    return base64.b64decode(only.blob)


def count(number: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
