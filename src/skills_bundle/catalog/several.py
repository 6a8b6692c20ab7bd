"""Decision: the three questions of a catalog, asked of several collections at once.

Skills of one name in two collections never hide each other: a search lists both, and a read that
does not say which is refused. A collection that cannot be served takes nothing from the others, and
is told of in every answer that it could have had a part in.
"""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from skills_bundle.catalog import limits, reading, search, several_overview
from skills_bundle.catalog.errors import refusal
from skills_bundle.catalog.service import checked
from skills_bundle.catalog.several_model import (
    CollectedReadResult,
    CollectedSkillRow,
    OverviewSeveralArguments,
    OverviewSeveralResult,
    ReadSeveralArguments,
    SearchSeveralArguments,
    SearchSeveralResult,
)
from skills_bundle.catalog.shelves import Shelves
from skills_bundle.errors import BundleUnavailableError, ToolError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from skills_bundle.catalog.model import SkillRow
    from skills_bundle.catalog.service import Catalog
    from skills_bundle.installed.bundle import BundleState


class Catalogs:
    """What one may ask about the skills of several collections.

    Args:
        catalogs: By the name of their collection, in the order in which they are listed; which they
            are stays the same as long as this object lives. Each must have the base
            `uris.base_of` of its name, and all must let the same resources be read.
        ambiguous: Names that more than one distribution declares, so that nothing is served.
    """

    def __init__(self, catalogs: Mapping[str, Catalog], ambiguous: Collection[str] = ()) -> None:
        """Touch nothing yet."""
        self._catalogs = catalogs
        shelves = {name: catalog.shelf for name, catalog in catalogs.items()}
        self.shelf = Shelves(shelves, ambiguous)
        """The same bundles as MCP resources and skill entries."""

    @property
    def catalogs(self) -> Mapping[str, Catalog]:
        """Each collection's own catalog, by name."""
        return self._catalogs

    def problem(self) -> BundleUnavailableError | None:
        """Look at every collection; give why nothing at all can be served, or None."""
        found = [(name, catalog.problem()) for name, catalog in self._catalogs.items()]
        told = [(name, problem) for name, problem in found if problem is not None]
        if len(told) < len(found):
            return None
        summary = " ".join(f"{name}: {problem.summary}" for name, problem in told)
        problems = tuple(row for _, problem in told for row in problem.problems)
        return BundleUnavailableError(f"No collection can be served. {summary}", problems)

    def search(
        self,
        query: str = "",
        limit: int = limits.SEARCH_DEFAULT_LIMIT,
        offset: int = 0,
        collection: str | None = None,
    ) -> SearchSeveralResult:
        """Find skills, in all collections or in one; see `Catalog.search`.

        Raises:
            ToolError: `invalid_input`, `collection_unavailable`, `catalog_unavailable`.
        """
        asked = checked(
            SearchSeveralArguments, query=query, limit=limit, offset=offset, collection=collection
        )
        views = self._look(asked.collection)
        found = {name: self._matches(name, view, asked.query) for name, view in views.items()}
        ordered = [*merge(*(_named(name, rows) for name, rows in found.items()), key=_place)]
        end = asked.offset + asked.limit
        return SearchSeveralResult(
            collections=tuple(
                self.shelf.state(name, view, len(found[name])) for name, view in views.items()
            ),
            collection=asked.collection,
            query=asked.query,
            limit=asked.limit,
            offset=asked.offset,
            total=len(ordered),
            next_offset=end if end < len(ordered) else None,
            skills=tuple(
                CollectedSkillRow(collection=name, **dict(row))
                for name, row in ordered[asked.offset : end]
            ),
        )

    def read(
        self,
        skill: str,
        resource: str = "SKILL.md",
        offset: int = 0,
        limit: int = limits.READ_DEFAULT_LIMIT,
        collection: str | None = None,
    ) -> CollectedReadResult:
        """Read one page of a file of a skill; see `Catalog.read`.

        Args:
            skill: Its path or name.
            resource: The file's path inside the skill, exactly as locked.
            offset: First byte, at the start of a character.
            limit: Most bytes.
            collection: The collection that holds the skill; may be left out if only one does.

        Raises:
            ToolError: `invalid_input`, `ambiguous_skill`, `resource_unavailable`,
                `collection_unavailable`, `catalog_unavailable`.
        """
        asked = checked(
            ReadSeveralArguments,
            skill=skill,
            resource=resource,
            offset=offset,
            limit=limit,
            collection=collection,
        )
        resources = next(iter(self._catalogs.values())).resources
        reading.check_resource(asked.resource, resources)
        holder = asked.collection or self._holder(asked.skill)
        if asked.collection is not None:
            self._look(asked.collection)
        try:
            page = self._catalogs[holder].read(
                asked.skill, asked.resource, asked.offset, asked.limit
            )
        except ToolError as error:
            if error.code == "catalog_unavailable":  # it went between the two looks
                raise refusal("collection_unavailable") from error
            raise
        return CollectedReadResult(collection=holder, **dict(page))

    def overview(
        self, max_entries: int = limits.OVERVIEW_MAX_ENTRIES, collection: str | None = None
    ) -> OverviewSeveralResult:
        """Show all collections, or one, at a glance; see `Catalog.overview`.

        Raises:
            ToolError: `invalid_input`, `collection_unavailable`, `catalog_unavailable`.
        """
        asked = checked(OverviewSeveralArguments, max_entries=max_entries, collection=collection)
        views = self._look(asked.collection)
        shown = [
            self._catalogs[name].overview_of(view, label=name)
            for name, view in views.items()
            if view is not None
        ]
        gone = [name for name, view in views.items() if view is None]
        return OverviewSeveralResult(
            collections=tuple(
                self.shelf.state(name, view, 0 if view is None else len(view.lock.skills))
                for name, view in views.items()
            ),
            collection=asked.collection,
            overview=several_overview.render(shown, gone, asked.max_entries),
        )

    def holders(self, skill: str) -> tuple[str, ...]:
        """Give the names of the collections that hold a skill of this path or name.

        Raises:
            ToolError: `collection_unavailable` if none does, but one cannot be looked at;
                `catalog_unavailable` if none can.
        """
        views = self._look(None)
        found = tuple(
            name
            for name, view in views.items()
            if view is not None and reading.holds(view.lock, skill)
        )
        if not found and None in views.values():
            raise refusal("collection_unavailable")
        return found

    def _holder(self, skill: str) -> str:
        found = self.holders(skill)
        if len(found) > 1:
            raise refusal("ambiguous_skill")
        if not found:
            raise refusal("resource_unavailable")
        return found[0]

    def _look(self, collection: str | None) -> dict[str, BundleState | None]:
        """Look at one collection, which must be there, or at all, of which one must be."""
        if collection is not None and collection not in self._catalogs:
            raise refusal("invalid_input")
        views = self.shelf.look(None if collection is None else [collection])
        if any(view is not None for view in views.values()):
            return views
        raise refusal("catalog_unavailable" if collection is None else "collection_unavailable")

    def _matches(self, name: str, view: BundleState | None, query: str) -> tuple[SkillRow, ...]:
        return () if view is None else search.matches(self._catalogs[name].index(view), query)


def _named(name: str, rows: tuple[SkillRow, ...]) -> Iterator[tuple[str, SkillRow]]:
    return ((name, row) for row in rows)


def _place(found: tuple[str, SkillRow]) -> tuple[str, str, str]:
    """Give what a skill is sorted by among those of all collections."""
    name, row = found
    return row.name, name, row.path
