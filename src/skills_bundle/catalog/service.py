"""Decision: the three questions one may ask of a bundle, each answered with its provenance.

`several.Catalogs` asks them of several bundles at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from skills_bundle.catalog import limits, media_types, overview, reading, search, uris
from skills_bundle.catalog.errors import refusal
from skills_bundle.catalog.model import (
    OverviewArguments,
    OverviewResult,
    ReadArguments,
    ReadResult,
    SearchArguments,
    SearchResult,
)
from skills_bundle.catalog.overview import BUNDLED
from skills_bundle.catalog.shelf import Shelf
from skills_bundle.errors import BundleUnavailableError, UnsafeFileError

if TYPE_CHECKING:
    from skills_bundle.formats.record import Record
    from skills_bundle.installed.bundle import Bundle, BundleState

R = TypeVar("R", bound="Record")


class Catalog:
    """What one may ask about the skills of a bundle.

    Every call looks at the bundle again. Every failure is a `ToolError` with a code of the wire and
    its fixed sentence.

    Args:
        bundle: Holds the skills.
        resources: What may be read: `markdown` (SKILL.md and Markdown below `references/`) or
            `all` (every locked text file).
        base: What the URIs of its files begin with.
    """

    def __init__(
        self,
        bundle: Bundle,
        *,
        resources: reading.Resources = "markdown",
        base: str = uris.SCHEME,
    ) -> None:
        """Touch nothing yet: a server starts and answers also when its skills are gone."""
        self._bundle = bundle
        self.resources: reading.Resources = resources
        """What may be read."""
        self.shelf = Shelf(bundle, base)
        """The same bundle as MCP resources and skill entries."""
        self._indexed: tuple[object, tuple[search.Entry, ...]] = (None, ())

    def problem(self) -> BundleUnavailableError | None:
        """Look at the bundle; give why nothing can be served, or None when all is well.

        This one is for the person who starts a server: unlike a `ToolError`, it names files.
        """
        try:
            self._bundle.current()
        except BundleUnavailableError as error:
            return error
        return None

    def search(
        self, query: str = "", limit: int = limits.SEARCH_DEFAULT_LIMIT, offset: int = 0
    ) -> SearchResult:
        """Find skills whose name, description or tags hold the query.

        Args:
            query: At most `limits.QUERY_MAX_CHARACTERS` code points without control characters.
            limit: Skills in one page, 1 to `limits.SEARCH_MAX_LIMIT`.
            offset: Matches to skip.

        Raises:
            ToolError: `invalid_input`, `catalog_unavailable`.
        """
        asked = checked(SearchArguments, query=query, limit=limit, offset=offset)
        view = self.shelf.view()
        found = search.matches(self.index(view), asked.query)
        end = asked.offset + asked.limit
        return SearchResult(
            provenance=view.provenance,
            query=asked.query,
            limit=asked.limit,
            offset=asked.offset,
            total=len(found),
            next_offset=end if end < len(found) else None,
            skills=found[asked.offset : end],
        )

    def read(
        self,
        skill: str,
        resource: str = "SKILL.md",
        offset: int = 0,
        limit: int = limits.READ_DEFAULT_LIMIT,
    ) -> ReadResult:
        """Read one page of a file of a skill.

        Args:
            skill: Its path or name.
            resource: The file's path inside the skill, exactly as locked.
            offset: First byte, at the start of a character.
            limit: Most bytes, `limits.READ_MIN_LIMIT` to `limits.READ_MAX_LIMIT`; fewer if they
                would not fit a response.

        Raises:
            ToolError: `invalid_input`, `resource_unavailable`, `catalog_unavailable`.
        """
        asked = checked(ReadArguments, skill=skill, resource=resource, offset=offset, limit=limit)
        reading.check_resource(asked.resource, self.resources)
        view = self.shelf.view()
        locked = reading.find_skill(view.lock, asked.skill)
        path = f"{locked.path}/{asked.resource}"
        data = self._bytes(view, path)
        page = reading.page(data, asked.offset, asked.limit)
        return ReadResult(
            provenance=view.provenance,
            skill=locked.name,
            path=locked.path,
            resource=asked.resource,
            media_type=media_types.of(asked.resource),
            byte_length=len(data),
            content_sha256=view.files[path].sha256,
            offset=asked.offset,
            limit=asked.limit,
            next_offset=page.next_offset,
            remaining=page.remaining,
            content=page.content,
        )

    def overview(self, max_entries: int = limits.OVERVIEW_MAX_ENTRIES) -> OverviewResult:
        """Show the collection at a glance.

        Args:
            max_entries: Most skills to show, 1 to `limits.OVERVIEW_MAX_ENTRIES`.

        Raises:
            ToolError: `invalid_input`, `catalog_unavailable`.
        """
        asked = checked(OverviewArguments, max_entries=max_entries)
        view = self.shelf.view()
        text = overview.render(self.overview_of(view), asked.max_entries)
        return OverviewResult(provenance=view.provenance, overview=text)

    def overview_of(self, view: BundleState, label: str = BUNDLED) -> overview.Overview:
        """Gather what an overview of a view shows.

        Args:
            view: What can be served.
            label: Where its skills come from.
        """
        damaged = sum(
            any(f"{skill.path}/{file.path}" in view.altered for file in skill.files)
            for skill in view.lock.skills
        )
        return overview.Overview(
            skills=search.matches(self.index(view), ""),
            warnings=damaged + view.refused,
            label=label,
            unlisted=self.shelf.rendering(view).entries.unlisted,
        )

    def index(self, view: BundleState) -> tuple[search.Entry, ...]:
        """Give what queries are looked for in; made once as long as the lock stays the same."""
        lock, entries = self._indexed
        if lock is not view.lock:
            entries = search.index(view.lock)
            self._indexed = (view.lock, entries)
        return entries

    def _bytes(self, view: BundleState, path: str) -> bytes:
        if path not in view.files:
            raise refusal("resource_unavailable")
        try:
            return self._bundle.read(path)
        except UnsafeFileError as error:
            raise refusal("resource_unavailable") from error


def checked(kind: type[R], **arguments: object) -> R:
    """Make a record of arguments.

    Raises:
        ToolError: `invalid_input`.
    """
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        raise refusal("invalid_input") from error
