"""Decision: what a session adds around the SDK for resources: what it declares, what it tells.

The lock normally stays the same while a server runs. If it is replaced (an upgrade in place, a
source checkout that is edited), whoever listed the old skills is told, on the revisions that allow
an unasked notification, before the next answer on that connection: nothing runs in between that
could notice sooner. On 2026-07-28 notifications need a subscription, which is a request that stays
open; we serve none, and results say how long they stay fresh instead.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.server.resources.errors import is_modern
from skills_bundle.server.resources.skills_extension import IDENTIFIER, SETTINGS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

    from skills_bundle.catalog.shelves import Shelved

    Context = ServerRequestContext["Told", Any]

LISTINGS: Final = frozenset(
    {"resources/list", "resources/directory/read", "skills/list", "skills/get"}
)
"""Methods whose answers a client may keep, so that it has to be told when they are outdated."""


@dataclass(slots=True)
class Told:
    """What the client of one connection was told.

    Attributes:
        digest: Of the lock that its listings are of, or None if it never asked for one.
    """

    digest: str | None = None


@asynccontextmanager
async def remember(_: Server[Told]) -> AsyncGenerator[Told]:
    """Give each connection a memory of its own; the SDK's "lifespan"."""
    yield Told()


class Changes:
    """The middleware.

    Args:
        shelf: What is served.
        notify: Whether a connection lasts long enough to be told of changes, and has a `Told` of
            its own. Not so where each request is a connection.
    """

    def __init__(self, shelf: Shelved, *, notify: bool) -> None:
        """Keep both."""
        self._shelf = shelf
        self._notify = notify

    async def __call__(self, context: Context, call_next: CallNext) -> HandlerResult:
        """Declare the extension in the handshake; after any other request, tell what changed."""
        if context.method == "initialize":
            return _declare(await call_next(context), notify=self._notify)
        if not self._notify or is_modern(context.protocol_version) or context.request_id is None:
            return await call_next(context)
        try:
            return await call_next(context)
        finally:
            await self._tell(context)

    async def _tell(self, context: Context) -> None:
        told, seen = context.lifespan_context, self._shelf.seen
        starts_anew = context.method in LISTINGS and "cursor" not in (context.params or {})
        if starts_anew:
            told.digest = seen
        elif told.digest not in {None, seen}:
            told.digest = seen
            await context.session.send_resource_list_changed()


def _declare(result: HandlerResult, *, notify: bool) -> HandlerResult:
    """Put into the answer to `initialize` what the SDK leaves out.

    It strips `extensions`, which the revisions with a handshake do not know and allow; hosts of the
    skills extension look for it there. And it takes `listChanged` from elsewhere.
    """
    answer = cast("dict[str, Any]", result)
    capabilities = cast("dict[str, Any]", answer["capabilities"])
    resources = {**capabilities["resources"], "listChanged": notify}
    extensions = {IDENTIFIER: SETTINGS}
    return {
        **answer,
        "capabilities": {**capabilities, "resources": resources, "extensions": extensions},
    }
