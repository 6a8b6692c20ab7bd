"""Edge: the running installation joined into the objects that server and commands use.

The one place that chooses implementations. What is imported here is what every start of the server
pays for: no git, no YAML, no network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills_bundle.catalog.service import Catalog
from skills_bundle.errors import UnsafeFileError
from skills_bundle.files.paths import to_disk
from skills_bundle.installed import location as installed
from skills_bundle.installed.bundle import InstalledBundle, SourceBundle, verify_installed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from skills_bundle.bundle.verification import Verification
    from skills_bundle.catalog.reading import Resources
    from skills_bundle.installed.bundle import Bundle, BundleState
    from skills_bundle.installed.location import Installed

    Find = Callable[[], Installed]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCollections:
    """The collections that a command answers for.

    Attributes:
        finders: By name, a function that locates each; sorted by name, at least one.
        ambiguous: Names among them that more than one distribution declares: nothing is served of
            these, and their finders raise.
        notes: What a person should know about the search, a line each.
    """

    finders: Mapping[str, Find]
    ambiguous: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=())

    def identify(self) -> object:
        """Locate the collection if there is only one.

        Files that were removed since the installation do not stop a start: the answers name them.

        Raises:
            BundleUnavailableError: If there is one, and it never had a bundle to serve.
        """
        return next(iter(self.finders.values()))() if len(self.finders) == 1 else None


def finder(collection: str | None) -> Callable[[], Installed]:
    """Return a function that locates a collection.

    Args:
        collection: Name of an installed collection, or None for our own.

    Raises:
        UnknownCollectionError: If no installed distribution declares it.
        UnreadableCollectionError: If one may declare it whose metadata cannot be read.
        AmbiguousCollectionError: If several do.
    """
    if collection is None:
        return installed.locate
    from skills_bundle.installed import collections  # noqa: PLC0415 - a plain start has no use for it

    return collections.find(collection)


def choose(names: Sequence[str] = ()) -> ChosenCollections:
    """Find the collections to answer for, once; what is installed later is not seen.

    Args:
        names: Their names; without any, every collection that is installed, ours among them.

    Raises:
        UnknownCollectionError: If no distribution declares one that was named.
        UnreadableCollectionError: If one may declare it whose metadata cannot be read.
        AmbiguousCollectionError: If several distributions declare one that was named.
        TooManyCollectionsError: If there are more than one server may answer for.
    """
    from skills_bundle.installed import collections  # noqa: PLC0415 - others are served without it

    survey = collections.survey()
    if names:
        finders = {name: survey.finder(name) for name in sorted(set(names))}
        collections.bounded(finders)
        return ChosenCollections(finders=finders, notes=survey.notes_about(finders))
    finders = survey.finders()
    collections.bounded(finders)
    return ChosenCollections(finders=finders, ambiguous=survey.ambiguous, notes=survey.notes())


def open_chosen(
    chosen: ChosenCollections, *, resources: Resources = "all", expose_paths: bool = False
) -> Catalog:
    """Open the catalog of the chosen collections.

    Never fails for a broken installation: the catalog then answers `catalog_unavailable`, and
    `Catalog.problem` says why.

    Args:
        chosen: Which collections.
        resources: What may be read: `all` or `markdown`.
        expose_paths: Whether answers name the folders of skills on this machine.
    """
    bundles = {name: DeferredBundle(find) for name, find in chosen.finders.items()}
    folders = {name: bundle.folder for name, bundle in bundles.items()} if expose_paths else None
    return Catalog(bundles, resources=resources, ambiguous=chosen.ambiguous, folders=folders)


def open_catalog(
    *, resources: Resources = "all", find: Callable[[], Installed] = installed.locate
) -> Catalog:
    """Open the catalog of one installation, or of the source it runs from; see `open_chosen`.

    Args:
        resources: What may be read: `all` or `markdown`.
        find: Locates the installation.
    """
    return open_chosen(ChosenCollections(finders={installed.OWN_NAME: find}), resources=resources)


def verify_installation(*, find: Callable[[], Installed] = installed.locate) -> Verification:
    """Verify the running installation: lock, receipt, RECORD, every skill file and our own code.

    Args:
        find: Locates the installation.

    Raises:
        BundleUnavailableError: If there is nothing to verify: the package runs from an archive, or
            from a source checkout whose skills cannot be read.
    """
    place = find()
    if place.project is not None:
        return SourceBundle(place, place.project).verification()
    return verify_installed(place)


@dataclass(frozen=True, slots=True)
class OpenBundle:
    """A bundle that was looked at once.

    Attributes:
        bundle: Reads files of that view.
        state: What could be served.
        folder: The skills folder on disk.
    """

    bundle: Bundle
    state: BundleState
    folder: Path


def open_bundle(find: Callable[[], Installed]) -> OpenBundle:
    """Open a bundle and look at all of it.

    Args:
        find: Locates the installation.

    Raises:
        BundleUnavailableError: If there is no lock that can be believed.
    """
    place = find()
    if place.project is None:
        bundle = InstalledBundle(find)
        return OpenBundle(bundle, bundle.current(), place.site / place.skills_prefix)
    live = SourceBundle(place, place.project)
    return OpenBundle(live, live.current(), live.folder)


class DeferredBundle:
    """The bundle there is, looked for when it is first asked for, so that opening never fails.

    Args:
        find: Locates the installation.
    """

    def __init__(self, find: Callable[[], Installed]) -> None:
        """Touch nothing yet."""
        self._find = find
        self._bundle: Bundle | None = None

    def current(self) -> BundleState:
        """See `Bundle.current`."""
        if self._bundle is None:
            place = self._find()
            self._bundle = (
                InstalledBundle(self._find)
                if place.project is None
                else SourceBundle(place, place.project)
            )
        return self._bundle.current()

    def read(self, path: str) -> bytes:
        """See `Bundle.read`."""
        if self._bundle is None:
            raise UnsafeFileError("missing", path)
        return self._bundle.read(path)

    def folder(self, skill: str) -> str:
        """Return the absolute folder of a skill on disk, by its path."""
        if isinstance(self._bundle, SourceBundle):
            return str(self._bundle.folder / to_disk(skill))
        place = self._find()
        return str(place.site / to_disk(f"{place.skills_prefix}{skill}"))
