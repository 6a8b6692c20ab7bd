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
    refusal,
    wire,
)
from skills_bundle.catalog.sources import Snapshot, Source, digest_of
from skills_bundle.errors import BundleUnavailableError, UnsafeFileError
from skills_bundle.formats.hidden_characters import neutral, quoted
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

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
        resources: What may be read: `all` (every locked text file) or `markdown` (SKILL.md and
            Markdown below `references/`).
        ambiguous: Collections that more than one distribution declares, so that they cannot be
            served.
        folders: By collection, a function that returns a skill's folder on this machine, by its
            path. With it, answers name the folder of a skill; without it, no answer names a path of
            the machine.
    """

    def __init__(
        self,
        bundles: Mapping[str, Bundle],
        *,
        resources: reading.Resources = "all",
        ambiguous: Collection[str] = (),
        folders: Mapping[str, Callable[[str], str]] | None = None,
    ) -> None:
        """Read nothing yet: a server starts and answers even if its skills are gone."""
        self.several = len(bundles) > 1
        """Whether answers name their collection."""
        self.sources = tuple(
            Source(name, bundle, self._base(name), is_ambiguous=name in ambiguous)
            for name, bundle in bundles.items()
        )
        """The collections, in the order in which they are listed."""
        self.exposes_paths = folders is not None
        """Whether answers name folders of this machine."""
        self.resources: reading.Resources = resources
        """What may be read."""
        self._folders = folders or {}
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
            names = reading.similar(collection or "", (one.name for one in self.sources))
            near = f" Similar: {', '.join(map(quoted, names))}." if names else ""
            message = f'"collection": not one of those served here.{near}'
            raise refusal("invalid_input", f"{message} Omit it to ask all of them.")
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
        return wire(answer, several=self.several)

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
        page = search.page(ordered, asked.offset, asked.limit)
        end = asked.offset + len(page)
        return SearchResult(
            provenance=found.available[0][1].provenance,
            collections=states,
            collection=asked.collection,
            query=asked.query,
            limit=asked.limit,
            offset=asked.offset,
            total=len(ordered),
            next_offset=end if end < len(ordered) else None,
            skills=page,
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
                `binary_resource`, `collection_unavailable`, `catalog_unavailable`.
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
        reading.check_allowed(asked.resource, self.resources)
        source, view, skill = _holder(self.snapshot(asked.collection), asked.skill)
        file = reading.find_file(skill, asked.resource, self.resources)
        try:
            data = source.read(f"{skill.path}/{file.path}")
        except UnsafeFileError as error:
            raise reading.unreadable(error) from error
        if problem := reading.text_problem(file.path, data):
            raise problem
        page = reading.page(data, asked.offset, asked.limit)
        files = more = base = None
        if file.path == SKILL_MD and asked.offset == 0:
            files, more = reading.other_files(skill)
            base = self._folder(source, view, skill)
        return ReadResult(
            provenance=view.provenance,
            skill=neutral(skill.name),
            path=neutral(skill.path),
            resource=neutral(file.path),
            media_type=reading.text_type(file.path),
            byte_length=len(data),
            content_sha256=file.sha256,
            offset=asked.offset,
            limit=asked.limit,
            next_offset=page.next_offset,
            remaining=page.remaining,
            content=page.content,
            collection=source.name,
            files=files,
            more_files=more or None,
            base=base,
        )

    def _folder(self, source: Source, view: BundleState, skill: LockedSkill) -> str | None:
        """Return a skill's folder on this machine if it may be named and no file is altered."""
        folder = self._folders.get(source.name)
        if folder is None or _is_altered(view, skill):
            return None
        return folder(skill.path)

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
        rendered = source.rendered(view)
        return overview.Collection(
            skills=view.lock.skills,
            altered=sum(_is_altered(view, skill) for skill in view.lock.skills),
            refused=view.refused,
            name=source.name,
            unlisted=rendered.entries.unlisted,
        )


def _is_altered(view: BundleState, skill: LockedSkill) -> bool:
    return any(f"{skill.path}/{file.path}" in view.altered for file in skill.files)


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
    if len({source.name for source, _, _ in holders}) == 1:
        paths = ", ".join(quoted(one.path) for _, _, one in holders[: limits.ERROR_MAX_FILES])
        message = f"Several skills of the collection have this name. Pass a path: {paths}."
        raise refusal("ambiguous_skill", message)
    if holders:
        raise refusal("ambiguous_skill")
    if found.unavailable:
        raise refusal("collection_unavailable")
    locks = (view.lock for _, view in found.available)
    raise refusal("resource_unavailable", reading.unknown_skill(locks, skill))
