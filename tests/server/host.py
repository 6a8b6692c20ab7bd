"""A host that asks for resources and skills of an installation, in any revision.

```python
with Host(place, "2025-11-25") as host:
    host.result("skills/list")["skills"]
    host.bytes("skill://alpha/SKILL.md")
```
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Self

from skills_bundle.catalog.service import Catalog
from skills_bundle.server.resources import PROVENANCE
from skills_bundle.server.tools import TOOLSETS, ToolContext, toolbox
from tests.server.peer import HANDSHAKES, Json, Peer, initialize, request

if TYPE_CHECKING:
    from skills_bundle.server.tools.base import Toolbox
    from tests.installed_builder import Installation


def tools_of(catalog: Catalog) -> Toolbox:
    """Return every tool over a catalog."""
    return toolbox(TOOLSETS, ToolContext(catalog=catalog))


class Host:
    """A connection that is open, in one revision.

    Attributes:
        opening: What the server said of itself.
        notes: Notifications that came between answers.
    """

    def __init__(self, place: Installation | Catalog, revision: str = HANDSHAKES[-1]) -> None:
        """Connect and open."""
        catalog = place if isinstance(place, Catalog) else place.catalog()
        self.revision = revision
        self.notes: list[Json] = []
        self._peer = Peer(tools_of(catalog), catalog)
        self.opening = self.ask(initialize(revision))["result"]

    def ask(self, message: Json) -> Json:
        """Send a request and give its answer; what comes before it is kept in `notes`."""
        self._peer.send(message)
        answer = self._peer.receive()
        while "id" not in answer:
            self.notes.append(answer)
            answer = self._peer.receive()
        return answer

    def result(self, method: str, **params: Any) -> Json:
        """Return the result of a request that must succeed."""
        return self.ask(request(method, params, 1, self.revision))["result"]

    def error(self, method: str, **params: Any) -> Json:
        """Return the error of a request that must fail."""
        return self.ask(request(method, params, 1, self.revision))["error"]

    def pages(self, method: str, member: str, **params: Any) -> list[list[Json]]:
        """Ask for every page of a listing."""
        pages: list[list[Json]] = []
        answer = self.result(method, **params)
        pages.append(answer[member])
        while "nextCursor" in answer:
            answer = self.result(method, **params, cursor=answer["nextCursor"])
            pages.append(answer[member])
        return pages

    def bytes(self, uri: str) -> bytes:
        """Read a resource as a host does before it compares digests."""
        (contents,) = self.result("resources/read", uri=uri)["contents"]
        if "text" in contents:
            return contents["text"].encode()
        return base64.b64decode(contents["blob"])

    @staticmethod
    def provenance(result: Json) -> Json:
        """Return the block that says where a result comes from."""
        return result["_meta"][PROVENANCE]

    def __enter__(self) -> Self:
        """Return this host."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave."""
        self._peer.__exit__()
