"""Decision: the three questions a catalog answers, over one collection or several.

Skills of the same name in two collections never hide each other: a search lists both, and a read
that does not name the collection is refused. A collection that cannot be served does not affect the
others; every answer that it could have contributed to says so.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from skills_bundle.catalog import limits, overview, reading, resources, search
from skills_bundle.catalog.model import (
    OverviewArguments,
    OverviewResult,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SearchResult,
    checked,
    hidden,
    refusal,
)
from skills_bundle.catalog.sources import Snapshot, Source, digest_of
from skills_bundle.errors import BundleUnavailableError, UnsafeFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import LockedSkill
    from skills_bundle.catalog.model import SkillRow
    from skills_bundle.formats.record import Record
    from skills_bundle.installed.bundle import Bundle, BundleState


class Catalog:
    """What can be asked about the skills of one or several collections.

    Every call checks the bundles again. Every failure is a `ToolError` with a code of the wire and
    its fixed message. A catalog of one collection answers as if there were no others: no collection
    in its URIs, and one provenance for each answer.

    Args:
        bundles: By collection, in the order in which they are listed; at least one.
        resources: What may be read: `markdown` (SKILL.md and Markdown below `references/`) or
            `all` (every locked text file).
        ambiguous: Collections that more than one distribution declares, so that they cannot be
            served.
    """

    def __init__(
        self,
        bundles: Mapping[str, Bundle],
        *,
        resources: reading.Resources = "markdown",
        ambiguous: Collection[str] = (),
    ) -> None:
        """Read nothing yet: a server starts and answers even if its skills are gone."""
        self.several = len(bundles) > 1
        """Whether answers name their collection."""
        self.sources = tuple(
            Source(name, bundle, self._base(name), is_ambiguous=name in ambiguous)
            for name, bundle in bundles.items()
        )
        """The collections, in the order in which they are listed."""
        self._resources: reading.Resources = resources
        self._seen: dict[str, str | None] = {}

    def _base(self, name: str) -> str:
        return resources.base_of(name) if self.several else resources.SCHEME

    # --- what there is ------------------------------------------------------------------------

    def problem(self) -> BundleUnavailableError | None:
        """Check every collection and return why none can be served, or None if one can.

        This is for the person who starts a server: unlike a `ToolError`, it names files.
        """
        problems: list[tuple[str, BundleUnavailableError]] = []
        for source in self.sources:
            try:
                source.view()
            except BundleUnavailableError as error:
                problems.append((source.name, error))
            else:
                return None
        if not self.several:
            return problems[0][1]
        summary = " ".join(f"{name}: {problem.summary}" for name, problem in problems)
        rows = tuple(row for _, problem in problems for row in problem.problems)
        return BundleUnavailableError(f"No collection can be served. {summary}", rows)

    def snapshot(self, collection: str | None = None) -> Snapshot:
        """Check one collection or all of them, and return what can be served.

        Args:
            collection: Its name, or None for all.

        Raises:
            ToolError: If nothing can be served: `catalog_unavailable`, or for a named collection
                `collection_unavailable`; `invalid_input` for a name that is not served here.
        """
        chosen = [one for one in self.sources if collection in {None, one.name}]
        if not chosen:
            raise refusal("invalid_input")
        views: dict[Source, BundleState | None] = {}
        cause: BundleUnavailableError | None = None
        for source in chosen:
            try:
                views[source] = source.view()
            except BundleUnavailableError as error:
                views[source], cause = None, error
        if not any(views.values()):
            code = "catalog_unavailable" if collection is None else "collection_unavailable"
            raise refusal(code) from (cause if len(chosen) == 1 else None)
        for source, view in views.items():
            self._seen[source.name] = view and view.provenance.catalog_sha256
        return Snapshot(views=views, several=self.several)

    @property
    def seen(self) -> str | None:
        """Digest of the locks in the latest snapshots; None before every collection was checked."""
        if len(self._seen) < len(self.sources):
            return None
        return digest_of((source.name, self._seen[source.name]) for source in self.sources)

    def to_dict(self, answer: Record) -> dict[str, JsonValue]:
        """Return an answer of this catalog as it is on the wire."""
        fields = hidden(type(answer), several=self.several)
        return answer.model_dump(mode="json", exclude=fields)

    # --- search -------------------------------------------------------------------------------

    def search(
        self,
        query: str = "",
        limit: int = limits.SEARCH_DEFAULT_LIMIT,
        offset: int = 0,
        collection: str | None = None,
    ) -> SearchResult:
        """Return the skills whose name, description or tags contain the query.

        Args:
            query: At most `limits.QUERY_MAX_CHARACTERS` code points without control characters.
            limit: Maximum skills in one page, 1 to `limits.SEARCH_MAX_LIMIT`.
            offset: Matches to skip.
            collection: The one collection to search; by default all.

        Raises:
            ToolError: `invalid_input`, `collection_unavailable`, `catalog_unavailable`.
        """
        return self.answer_search(
            checked(SearchArguments, query=query, limit=limit, offset=offset, collection=collection)
        )

    def answer_search(self, asked: SearchArguments) -> SearchResult:
        """Answer a search; see `search`."""
        found = self.snapshot(asked.collection)
        rows = {
            source: () if view is None else search.matches(source.rendered(view).index, asked.query)
            for source, view in found.views.items()
        }
        ordered = sorted(chain.from_iterable(rows.values()), key=_order)
        states = found.states({source: len(some) for source, some in rows.items()})
        end = asked.offset + asked.limit
        return SearchResult(
            provenance=found.available[0][1].provenance,
            collections=states,
            collection=asked.collection,
            query=asked.query,
            limit=asked.limit,
            offset=asked.offset,
            total=len(ordered),
            next_offset=end if end < len(ordered) else None,
            skills=tuple(ordered[asked.offset : end]),
        )

    # --- read ---------------------------------------------------------------------------------

    def read(
        self,
        skill: str,
        resource: str = "SKILL.md",
        offset: int = 0,
        limit: int = limits.READ_DEFAULT_LIMIT,
        collection: str | None = None,
    ) -> ReadResult:
        """Return one page of a file of a skill.

        Args:
            skill: Its path or name.
            resource: The file's path inside the skill, exactly as locked.
            offset: First byte, at the start of a character.
            limit: Maximum bytes, `limits.READ_MIN_LIMIT` to `limits.READ_MAX_LIMIT`; the page is
                shorter if it would not fit into a response.
            collection: The collection that holds the skill; needed only if several do.

        Raises:
            ToolError: `invalid_input`, `ambiguous_skill`, `resource_unavailable`,
                `collection_unavailable`, `catalog_unavailable`.
        """
        return self.answer_read(
            checked(
                ReadArguments,
                skill=skill,
                resource=resource,
                offset=offset,
                limit=limit,
                collection=collection,
            )
        )

    def answer_read(self, asked: ReadArguments) -> ReadResult:
        """Answer a read; see `read`."""
        reading.check_allowed(asked.resource, self._resources)
        source, view, skill = _holder(self.snapshot(asked.collection), asked.skill)
        path = f"{skill.path}/{asked.resource}"
        if path not in view.files:
            raise refusal("resource_unavailable")
        try:
            data = source.read(path)
        except UnsafeFileError as error:
            raise refusal("resource_unavailable") from error
        page = reading.page(data, asked.offset, asked.limit)
        return ReadResult(
            provenance=view.provenance,
            skill=skill.name,
            path=skill.path,
            resource=asked.resource,
            media_type=reading.text_type(asked.resource),
            byte_length=len(data),
            content_sha256=view.files[path].sha256,
            offset=asked.offset,
            limit=asked.limit,
            next_offset=page.next_offset,
            remaining=page.remaining,
            content=page.content,
            collection=source.name,
        )

    # --- overview -----------------------------------------------------------------------------

    def overview(
        self, max_entries: int = limits.OVERVIEW_MAX_ENTRIES, collection: str | None = None
    ) -> OverviewResult:
        """Return the overview text.

        Args:
            max_entries: Maximum skills to show, 1 to `limits.OVERVIEW_MAX_ENTRIES`.
            collection: The one collection to show; by default all.

        Raises:
            ToolError: `invalid_input`, `collection_unavailable`, `catalog_unavailable`.
        """
        return self.answer_overview(
            checked(OverviewArguments, max_entries=max_entries, collection=collection)
        )

    def answer_overview(self, asked: OverviewArguments) -> OverviewResult:
        """Answer a request for the overview; see `overview`."""
        found = self.snapshot(asked.collection)
        text = overview.render(
            [self._shown(source, view) for source, view in found.available],
            asked.max_entries,
            unavailable=[source.name for source in found.unavailable],
            several=self.several,
        )
        return OverviewResult(
            provenance=found.available[0][1].provenance,
            collections=found.states(),
            collection=asked.collection,
            overview=text,
        )

    def _shown(self, source: Source, view: BundleState) -> overview.Collection:
        damaged = sum(
            any(f"{skill.path}/{file.path}" in view.altered for file in skill.files)
            for skill in view.lock.skills
        )
        rendered = source.rendered(view)
        return overview.Collection(
            skills=search.matches(rendered.index, ""),
            warnings=damaged + view.refused,
            label=source.name if self.several else overview.BUNDLED,
            unlisted=rendered.entries.unlisted,
        )


def _order(row: SkillRow) -> tuple[str, str, str]:
    return row.name, row.collection, row.path


def _holder(found: Snapshot, skill: str) -> tuple[Source, BundleState, LockedSkill]:
    """Return the one skill with this path or name, and its collection.

    Raises:
        ToolError: `ambiguous_skill` if there are several; else `collection_unavailable` if a
            collection could not be checked, `resource_unavailable` if all were.
    """
    holders = [
        (source, view, locked)
        for source, view in found.available
        for locked in reading.find_skills(view.lock, skill)
    ]
    if len(holders) == 1:
        return holders[0]
    if holders:
        raise refusal("ambiguous_skill")
    raise refusal("collection_unavailable" if found.unavailable else "resource_unavailable")
