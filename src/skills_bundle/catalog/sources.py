"""Decision: the collections a catalog answers from, and what all of them hold at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.catalog import limits, resources, search
from skills_bundle.catalog.model import CollectionState, refusal
from skills_bundle.formats.digest import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.catalog.resources import Entries, Item
    from skills_bundle.installed.bundle import Bundle, BundleState


class RenderedLock:
    """Everything that is derived from one lock, each part made when it is first needed.

    Args:
        lock: The lock.
        collection: The collection's name.
        base: The start of its URIs.
    """

    def __init__(self, lock: CatalogLock, collection: str, base: str) -> None:
        """Derive nothing yet."""
        self.lock = lock
        self._collection = collection
        self._base = base

    @cached_property
    def index(self) -> tuple[search.Entry, ...]:
        """The skills, ready for searching."""
        return search.index(self.lock, self._collection)

    @cached_property
    def entries(self) -> Entries:
        """The skills as entries of the skills extension."""
        return resources.entries(self.lock, self._base)

    @cached_property
    def files(self) -> Mapping[str, Item]:
        """Every locked file as a resource, by its path."""
        return resources.resources(self.lock, self._base)

    @cached_property
    def folders(self) -> Mapping[str, tuple[Item, ...]]:
        """The direct children of every folder, by its path."""
        return resources.folders(self.files, self._base)


class Source:
    """One collection that a catalog answers from.

    Args:
        name: The collection's name.
        bundle: Holds its skills.
        base: The start of its URIs.
        is_ambiguous: Whether more than one distribution declares the name, so that it cannot be
            served.
    """

    def __init__(
        self, name: str, bundle: Bundle, base: str = resources.SCHEME, *, is_ambiguous: bool = False
    ) -> None:
        """Read nothing yet: a server starts and answers even if its skills are gone."""
        self.name = name
        self.base = base
        self._bundle = bundle
        self._is_ambiguous = is_ambiguous
        self._rendered: RenderedLock | None = None

    def view(self) -> BundleState:
        """Check the bundle again and return what can be served.

        Raises:
            BundleUnavailableError: If nothing can be served.
        """
        return self._bundle.current()

    def read(self, path: str) -> bytes:
        """Return the bytes of a file of the latest view.

        Raises:
            UnsafeFileError: If the file differs from the lock.
        """
        return self._bundle.read(path)

    def rendered(self, view: BundleState) -> RenderedLock:
        """Return what is derived from a view's lock; kept as long as the lock stays the same."""
        if self._rendered is None or self._rendered.lock is not view.lock:
            self._rendered = RenderedLock(view.lock, self.name, self.base)
        return self._rendered

    def state(self, view: BundleState | None, total: int | None = None) -> CollectionState:
        """Return what an answer states about this collection.

        Args:
            view: What can be served of it, or None.
            total: How many of its skills the answer covers; by default all of them.
        """
        if view is not None:
            return CollectionState(
                collection=self.name,
                total=len(view.lock.skills) if total is None else total,
                provenance=view.provenance,
                problem=None,
            )
        problem = "ambiguous_collection" if self._is_ambiguous else "catalog_unavailable"
        return CollectionState(collection=self.name, total=None, provenance=None, problem=problem)


class Location(NamedTuple):
    """Where a URI points: a collection, and a path below its skills folder that may not exist."""

    source: Source
    view: BundleState
    path: str

    @property
    def rendered(self) -> RenderedLock:
        """What is derived from the collection's lock."""
        return self.source.rendered(self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Some or all sources of a catalog at one moment.

    Attributes:
        views: Each source in order, with what can be served of it, or None.
        several: Whether the catalog has several sources.
    """

    views: Mapping[Source, BundleState | None]
    several: bool

    @property
    def available(self) -> list[tuple[Source, BundleState]]:
        """The sources that can be served."""
        return [(source, view) for source, view in self.views.items() if view is not None]

    @property
    def unavailable(self) -> list[Source]:
        """The sources that cannot be served."""
        return [source for source, view in self.views.items() if view is None]

    @property
    def digest(self) -> str:
        """A digest that changes whenever anything in a listing changes."""
        return digest_of(
            (source.name, view and view.provenance.catalog_sha256)
            for source, view in self.views.items()
        )

    @property
    def is_editable(self) -> bool:
        """Whether a source is a source checkout, whose skills may change at any moment."""
        return any("editable_install" in view.provenance.gaps for _, view in self.available)

    def states(self, totals: Mapping[Source, int] | None = None) -> tuple[CollectionState, ...]:
        """Return the state of every source.

        Args:
            totals: How many skills of each source an answer covers; by default all of them.
        """
        return tuple(
            source.state(view, None if totals is None else totals[source])
            for source, view in self.views.items()
        )

    def entries(self) -> list[Item]:
        """Return the entry of every skill that has one, source by source."""
        return [
            item
            for source, view in self.available
            for item in source.rendered(view).entries.listed.values()
        ]

    def resources(self) -> list[Item]:
        """Return every locked file that a read always returns, source by source."""
        return [
            item
            for source, view in self.available
            for path, item in source.rendered(view).files.items()
            if view.files[path].size <= limits.RESOURCE_FILE_MAX_BYTES
        ]

    def locate(self, uri: str) -> Location | None:
        """Return where a URI points, or None if it cannot be one of ours.

        Raises:
            ToolError: `collection_unavailable` if its collection cannot be served now.
        """
        if any(f"{uri}/".startswith(source.base) for source in self.unavailable):
            raise refusal("collection_unavailable")
        for source, view in self.available:
            if self.several and f"{uri}/" == source.base:
                return Location(source, view, "")
            path = resources.path_of(uri, source.base)
            if path is not None:
                return Location(source, view, path)
        return None


def digest_of(locks: Iterable[tuple[str, str | None]]) -> str:
    """Return one digest of which locks are served.

    Args:
        locks: Each source's name with the digest of its lock, or None if it is not served.
    """
    rows = "".join(f"{name!r} {digest}\n" for name, digest in locks)
    return sha256_hex(rows.encode("utf-8", "backslashreplace"))
