"""Decision: what is on one shelf, or on several, at one moment, as MCP's listings need it.

With one collection everything is as if there were no others: no name in a URI, one provenance. With
several, each URI begins with its collection's name, and a collection that cannot be served now
takes nothing away from the others: it is told of beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from skills_bundle.catalog import limits, uris
from skills_bundle.catalog.errors import refusal
from skills_bundle.catalog.several_model import CollectionState
from skills_bundle.errors import ToolError
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from skills_bundle.catalog.entries import Item
    from skills_bundle.catalog.shelf import Rendering, Shelf
    from skills_bundle.installed.bundle import BundleState


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One collection of what is shown.

    Attributes:
        shelf: Reads its files.
        view: What of it can be served.
        rendering: Its lock, rendered.
    """

    shelf: Shelf
    view: BundleState
    rendering: Rendering


class Place(NamedTuple):
    """Where a URI leads: a collection, and a path below its skills folder that may not exist."""

    part: Part
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Everything that is on the shelves at one moment.

    Attributes:
        parts: The collections that can be served, by name.
        states: Of every collection, by name; None where a server serves one collection alone.
        gone: What the URIs of collections that cannot be served begin with.
    """

    parts: Sequence[Part]
    states: tuple[CollectionState, ...] | None = None
    gone: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """Give a text that is another one when anything in a listing is."""
        if self.states is None:
            return self.parts[0].view.provenance.catalog_sha256
        return digest_of(self.states)

    @property
    def is_edited(self) -> bool:
        """Whether somebody may be at work on these skills."""
        return any("editable_install" in part.view.provenance.gaps for part in self.parts)

    def entries(self) -> tuple[Item, ...]:
        """Give the entry of every skill that has one, collection by collection."""
        return tuple(item for part in self.parts for item in part.rendering.entries.listed.values())

    def resources(self) -> tuple[Item, ...]:
        """Give every locked file that a read surely gives, collection by collection."""
        return tuple(
            item
            for part in self.parts
            for path, item in part.rendering.resources.items()
            if part.view.files[path].size <= limits.RESOURCE_FILE_MAX_BYTES
        )

    def place(self, uri: str) -> Place | None:
        """Give where a URI leads, or None if nothing can have it.

        Raises:
            ToolError: `collection_unavailable` if it is of a collection that cannot be served now.
        """
        if any(f"{uri}/".startswith(base) for base in self.gone):
            raise refusal("collection_unavailable")
        for part in self.parts:
            if self.states is not None and f"{uri}/" == part.shelf.base:
                return Place(part, "")
            path = uris.path_of(uri, part.shelf.base)
            if path is not None:
                return Place(part, path)
        return None


def digest_of(states: Iterable[CollectionState]) -> str:
    """Give one digest of which locks are served."""
    rows = [
        f"{state.collection!r} {state.provenance and state.provenance.catalog_sha256}\n"
        for state in states
    ]
    return sha256_hex("".join(rows).encode("utf-8", "backslashreplace"))


def show(shelf: Shelf) -> Shown:
    """Look at the shelf of the one collection that is served.

    Raises:
        ToolError: `catalog_unavailable`.
    """
    return Shown(parts=[_part(shelf, shelf.view())])


def _part(shelf: Shelf, view: BundleState) -> Part:
    return Part(shelf=shelf, view=view, rendering=shelf.rendering(view))


class Shelves:
    """What MCP's resources and skills are made of where several collections are served.

    Args:
        shelves: By collection, in the order in which they are listed.
        ambiguous: Those that cannot be served because more than one distribution declares them.
    """

    def __init__(self, shelves: Mapping[str, Shelf], ambiguous: Iterable[str] = ()) -> None:
        """Touch nothing yet."""
        self._shelves = shelves
        self._ambiguous = frozenset(ambiguous)
        self._seen: dict[str, CollectionState] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all collections."""
        return tuple(self._shelves)

    @property
    def seen(self) -> str | None:
        """Digest of what was last looked at; None before everything was."""
        if len(self._seen) < len(self._shelves):
            return None
        return digest_of(self._seen[name] for name in self._shelves)

    def look(self, names: Iterable[str] | None = None) -> dict[str, BundleState | None]:
        """Look at collections.

        Args:
            names: Which; by default all.

        Returns:
            By name what can be served of each, or None if nothing can.
        """
        views = {name: self._view(name) for name in (names or self._shelves)}
        self._seen |= {name: self.state(name, view) for name, view in views.items()}
        return views

    def _view(self, name: str) -> BundleState | None:
        try:
            return self._shelves[name].view()
        except ToolError:
            return None

    def state(
        self, name: str, view: BundleState | None, total: int | None = None
    ) -> CollectionState:
        """Say of a collection what an answer carries of it.

        Args:
            name: The collection.
            view: What can be served of it, if anything.
            total: How many of its skills the answer is about.
        """
        if view is not None:
            return CollectionState(
                collection=name, total=total, provenance=view.provenance, problem=None
            )
        problem = "ambiguous_collection" if name in self._ambiguous else "catalog_unavailable"
        return CollectionState(collection=name, total=None, provenance=None, problem=problem)

    def show(self) -> Shown:
        """Look at every collection.

        Raises:
            ToolError: `catalog_unavailable` if none can be served.
        """
        views = self.look()
        there = {name: view for name, view in views.items() if view is not None}
        if not there:
            raise refusal("catalog_unavailable")
        return Shown(
            parts=[_part(self._shelves[name], view) for name, view in there.items()],
            states=tuple(
                self.state(name, view, None if view is None else len(view.lock.skills))
                for name, view in views.items()
            ),
            gone=[self._shelves[name].base for name, view in views.items() if view is None],
        )


Shelved: TypeAlias = "Shelf | Shelves"
"""What a server offers as MCP resources and skills."""
