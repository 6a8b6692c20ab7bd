"""Edge: the collections that distributions in the running environment declare, and where they are.

A distribution declares a collection with an entry point of the group `skills_bundle.collections`:
its name is the collection's, its value the import package that carries the bundle. Metadata and
folders are looked at; no package is imported, so none of their code runs.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import skills_bundle
from skills_bundle.bundle.lock import BUNDLE_FOLDER, ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.errors import BundleUnavailableError, Problem, SkillsBundleError
from skills_bundle.files.paths import from_disk
from skills_bundle.formats import limits as format_limits
from skills_bundle.installed import distribution, limits
from skills_bundle.installed import location as installed
from skills_bundle.installed.distribution import normalised
from skills_bundle.installed.location import OWN_NAME
from skills_bundle.project import limits as project_limits
from skills_bundle.project.settings import CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from email.message import Message
    from importlib.machinery import ModuleSpec

    from skills_bundle.installed.location import Installed


class UnknownCollectionError(SkillsBundleError):
    """A collection that no installed distribution declares."""

    exit_code = 2


class TooManyCollectionsError(SkillsBundleError):
    """More collections than can be served together."""

    exit_code = 2


class UnreadableCollectionError(SkillsBundleError):
    """A collection that a distribution may declare whose metadata cannot be read."""

    exit_code = 3


class AmbiguousCollectionError(SkillsBundleError):
    """A collection that several installed distributions declare."""

    exit_code = 3


_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What versions of `importlib.metadata` raise of metadata that is broken or half removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the distributions of an environment declare.

    Attributes:
        declared: Every collection, sorted by name and then distribution; ours is one of them.
        damaged: Metadata that cannot be read, sorted by folder.
        misnamed: Those of distributions that declare what no collection can be called, sorted.
        leftovers: Metadata folders that another version of a distribution left, each with the name
            of that distribution; sorted.
        path: The folders that were looked in.
    """

    declared: tuple[Declared, ...]
    damaged: tuple[DamagedMetadata, ...]
    misnamed: tuple[str, ...]
    leftovers: tuple[tuple[str, str], ...]
    path: tuple[str, ...]

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Metadata folders that cannot be read, sorted."""
        return tuple(one.folder for one in self.damaged)

    @property
    def ambiguous(self) -> frozenset[str]:
        """Names that several distributions declare. Ours always means the code that runs."""
        number = Counter(row.name for row in self.declared)
        return frozenset(name for name in number if number[name] > 1) - {OWN_NAME}

    def finders(self) -> dict[str, Callable[[], Installed]]:
        """Return, by name, a function that locates each collection; sorted by name.

        For an ambiguous name it raises `BundleUnavailableError`.
        """
        rows = {row.name: row for row in self.declared if row.name not in self.ambiguous}
        rows[OWN_NAME] = OWN
        found = {name: locator(row, self.path) for name, row in rows.items()}
        found |= {name: partial(_refuse, self._claims(name)) for name in self.ambiguous}
        return dict(sorted(found.items()))

    def finder(self, name: str) -> Callable[[], Installed]:
        """Return a function that locates one collection; see `find`.

        Raises:
            UnknownCollectionError: If no distribution declares it; it lists those that are.
            UnreadableCollectionError: If one may declare it whose metadata cannot be read.
            AmbiguousCollectionError: If several distributions do; names them.
        """
        rows = [OWN] if name == OWN_NAME else self._claims(name)
        if len(rows) == 1:
            return locator(rows[0], self.path)
        if rows:
            raise ambiguous(rows)
        if folders := self._suspects(name):
            raise _unreadable(name, folders)
        raise _unknown(name, self.declared)

    def _suspects(self, name: str) -> list[str]:
        """Return the metadata folders that cannot be read and may declare a collection."""
        found = {one.folder for one in self.damaged if one.may_declare(name)}
        for place in map(Path, self.path):
            found |= {str(place / folder) for folder in distribution.damaged(place, name)}
        return sorted(found)

    def notes_about(self, names: Collection[str]) -> tuple[str, ...]:
        """Return what a person should know about some collections, a line each."""
        owners = {row.distribution for row in self.declared if row.name in names}
        lines = [
            f"the metadata in {folder} was left by another version and is not used; remove it"
            for name, folder in self.leftovers
            if name in owners
        ]
        if OWN_NAME in names and len(ours := self._claims(OWN_NAME)) > 1:
            others = " and ".join(_owner(row) for row in ours if row != OWN)
            lines.append(
                f"{others} also declares the collection {OWN_NAME!r}; only the one of "
                "skills-bundle is served under this name"
            )
        return tuple(lines)

    def notes(self) -> tuple[str, ...]:
        """Return what is not served although it may be a collection, a line each."""
        lines = [
            f"the metadata in {folder} cannot be read; whether it declares a collection is unknown"
            for folder in self.unreadable
        ]
        lines += [
            f"the metadata in {folder} declares a collection with an invalid name; a name is "
            "lower-case letters and digits joined by - . or _. It is left out"
            for folder in self.misnamed
        ]
        return (*lines, *self.notes_about({row.name for row in self.declared}))

    def _claims(self, name: str) -> list[Declared]:
        return [row for row in self.declared if row.name == name]


def survey(path: Sequence[str] | None = None) -> Survey:
    """Look through an environment for collections.

    Of several distributions of one name the first on the path counts, as it does for imports.

    Args:
        path: Folders to look in; by default `search_path()`.
    """
    folders = tuple(dict.fromkeys(search_path() if path is None else path))
    found = {OWN.distribution: (OWN,)}
    damaged: list[DamagedMetadata] = []
    misnamed: set[str] = set()
    leftovers: set[tuple[str, str]] = set()
    for folder in folders:
        claims: dict[str, dict[str, tuple[Declared, ...]]] = {}
        for one in metadata.distributions(path=[folder]):
            rows = _declared(one)
            if isinstance(rows, DamagedMetadata):
                damaged.append(rows)
                continue
            usable = tuple(filter(_is_usable, rows))
            if usable != rows:
                misnamed.add(_folder_of(one))
            if usable:
                claims.setdefault(usable[0].distribution, {})[_folder_of(one)] = usable
        here = {name: _in_use(rows) for name, rows in claims.items()}
        leftovers |= {
            (name, other) for name in claims for other in claims[name] if other != here[name]
        }
        found = {name: claims[name][used] for name, used in here.items()} | found
    return Survey(
        declared=tuple(sorted({row for rows in found.values() for row in rows})),
        damaged=tuple(sorted(damaged, key=lambda one: one.folder)),
        misnamed=tuple(sorted(misnamed)),
        leftovers=tuple(sorted(leftovers)),
        path=folders,
    )


def _in_use(claims: Mapping[str, tuple[Declared, ...]]) -> str:
    """Return the metadata folder that counts, of one distribution's in the same place.

    It is the one that verification compares with the files, see `distribution.find`.
    """
    if len(claims) == 1:
        return next(iter(claims))
    fitting: list[str] = []
    for folder, (row, *_) in claims.items():
        path = Path(folder)
        place = row.package.replace(".", "/")
        used = distribution.find(path.parent, row.distribution, place)
        if used is not None and used.folder == from_disk(path.name):
            fitting.append(folder)
    return max(
        fitting or claims,
        key=lambda folder: (distribution.version_key(claims[folder][0].version), folder),
    )


def installed_collections(path: Sequence[str] | None = None) -> tuple[Declared, ...]:
    """Return every declared collection, sorted by name and then distribution; ours is one of them.

    Args:
        path: Folders to look in; by default `search_path()`.
    """
    return survey(path).declared


def bounded(names: Collection[str]) -> None:
    """Refuse to serve more collections than can be served together.

    Raises:
        TooManyCollectionsError: If there are more than `limits.COLLECTIONS_MAX`.
    """
    if len(names) > limits.COLLECTIONS_MAX:
        raise TooManyCollectionsError(
            f"There are {len(names)} collections, and at most {limits.COLLECTIONS_MAX} are served "
            "together. Choose some with --collection NAME."
        )


def find(name: str, path: Sequence[str] | None = None) -> Callable[[], Installed]:
    """Return a function that locates the package of a collection.

    Args:
        name: The collection's name, as its entry point spells it.
        path: Folders to look in; by default `search_path()`.

    Returns:
        A function that looks at the disk each time; it raises `BundleUnavailableError` if the
        package is not there or contains no bundle.

    Raises:
        UnknownCollectionError: If no distribution declares it; it lists those that are.
        UnreadableCollectionError: If one may declare it whose metadata cannot be read.
        AmbiguousCollectionError: If several distributions do; names them. Ours is never ambiguous:
            it is the code that runs, and no other distribution can take its name away.
    """
    return survey(path).finder(name)


def ambiguous(rows: Sequence[Declared]) -> AmbiguousCollectionError:
    """Return the error of several declarations with one name.

    Args:
        rows: At least two.
    """
    message = f"The collection {rows[0].name!r} is declared by more than one distribution: "
    owners = " and ".join(_owner(row) for row in rows)
    return AmbiguousCollectionError(f"{message}{owners}. Uninstall all but one.")


def _unknown(name: str, there: Sequence[Declared]) -> UnknownCollectionError:
    known = list(dict.fromkeys(row.name for row in there))
    close = get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return UnknownCollectionError(
        f"No installed distribution declares the collection {name!r}.{guess} "
        f"Installed: {', '.join(known)}."
    )


def _unreadable(name: str, folders: Sequence[str]) -> UnreadableCollectionError:
    shown = ", ".join(folders[: limits.FOLDERS_SHOWN])
    rest = len(folders) - limits.FOLDERS_SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    return UnreadableCollectionError(
        f"Whether a distribution declares the collection {name!r} is unknown: the metadata in "
        f"{shown}{more} cannot be read. Install that distribution again."
    )


def _folder_of(found: metadata.Distribution) -> str:
    """Return the folder of a distribution's metadata; there is no public way to ask for it."""
    return str(getattr(found, "_path", "a folder that no longer exists"))


def _refuse(rows: Sequence[Declared]) -> Installed:
    error = ambiguous(rows)
    problem = Problem(code="ambiguous_collection", message=error.summary)
    raise BundleUnavailableError(error.summary, (problem,))


def _is_usable(row: Declared) -> bool:
    """Return whether a collection can have this name; it is in every answer and every URI."""
    return not [*CHECKS["collection"](row.name)] and _is_bounded(row.package)


def _is_bounded(text: str) -> bool:
    return len(text) <= project_limits.SETTING_MAX_CHARACTERS and text.isprintable()


def _demand_readable(found: metadata.Distribution, *names: str) -> None:
    """Check that `importlib.metadata` can safely read files of the metadata.

    It blocks on a pipe and reads a file of any size; one distribution must not keep all others
    from being served.

    Raises:
        OSError: If one is not a regular file, or too large.
    """
    folder = getattr(found, "_path", None)
    for name in names if isinstance(folder, Path) else ():  # else in an archive
        try:
            facts = Path(str(folder), name).stat()
        except OSError:
            continue  # it says itself what it makes of that
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > format_limits.METADATA_MAX_BYTES:
            raise OSError(None, "is not a regular file, or too large", name)


def _declared(found: metadata.Distribution) -> tuple[Declared, ...] | DamagedMetadata:
    """Read what one distribution declares."""
    damaged = DamagedMetadata(_folder_of(found))
    try:
        _demand_readable(found, "entry_points.txt")
        # Most declare nothing, and reading their names costs far more than this.
        entries = found.entry_points.select(group=ENTRY_POINT_GROUP)
        if not entries:
            return ()
        damaged = DamagedMetadata(damaged.folder, frozenset(entry.name for entry in entries))
        _demand_readable(found, "METADATA", "PKG-INFO")
        # Its protocol promises no `get` before 3.12, though it always was a message.
        headers = cast("Message[str, str]", found.metadata)
        name, version = headers.get("Name"), headers.get("Version")
    except _UNREADABLE:
        return damaged
    if not name or not _is_bounded(name) or not _is_bounded(version or ""):
        return damaged
    name, version = _identity(found, name, version or "")
    return tuple(
        Declared(entry.name, name, version, entry.value.partition(":")[0].strip())
        for entry in entries
    )


def _identity(found: metadata.Distribution, name: str, version: str) -> tuple[str, str]:
    """Return the normalised name and the version of a distribution.

    The name of a `.dist-info` folder decides: METADATA is one of the files to be verified, and a
    letter changed in it must not hide the RECORD and the receipt beside it.
    """
    folder = from_disk(Path(_folder_of(found)).name)
    of_folder, version_of_folder = distribution.name_parts(folder)
    if not of_folder or not _is_bounded(folder):
        return normalised(name), version
    is_same = distribution.is_named(folder, name, version)
    return of_folder, version if is_same else version_of_folder


@dataclass(frozen=True, slots=True)
class DamagedMetadata:
    """Metadata of a distribution that cannot be read.

    Attributes:
        folder: Its folder.
        names: The collections that its entry points declare; None if these cannot be read.
    """

    folder: str
    names: frozenset[str] | None = None

    def may_declare(self, name: str) -> bool:
        """Return whether the distribution may declare a collection."""
        return self.names is None or name in self.names


@dataclass(frozen=True, slots=True, order=True)
class Declared:
    """What an entry point says, and whose it is.

    Attributes:
        name: The collection's name.
        distribution: Normalised name of the distribution that declares it.
        version: Its version; empty if its metadata does not say.
        package: Dotted name of the import package, as the entry point spells it.
    """

    name: str
    distribution: str
    version: str
    package: str


OWN: Final = Declared(OWN_NAME, OWN_NAME, skills_bundle.__version__, package=skills_bundle.__name__)
"""Our own collection, which is there also when we run from source and have no metadata."""


def search_path() -> tuple[str, ...]:
    """Return the folders of the running environment in which imports are looked for.

    The empty one means the working directory, which declares nothing. (`python -m skills_bundle`
    has already removed it by its full name.)
    """
    return tuple(folder for folder in sys.path if folder)


def locator(row: Declared, path: Sequence[str] | None = None) -> Callable[[], Installed]:
    """Return a function that locates the package of one declaration; see `find`.

    Args:
        row: The declaration.
        path: Folders to look in; by default `search_path()`.
    """
    if row == OWN:  # the code that runs, wherever it was imported from
        return installed.locate
    return partial(_locate, row, tuple(search_path() if path is None else path))


def _owner(row: Declared) -> str:
    """Return the distribution of a declaration, with its version."""
    return f"{row.distribution} {row.version}".rstrip()


def _locate(row: Declared, path: tuple[str, ...]) -> Installed:
    folder = _folder(row.package, path)
    if folder is None or not (folder / BUNDLE_FOLDER).exists():
        site = _recorded_site(row, path)
        if site is not None:  # removed since the installation: every answer says what is missing
            return installed.locate_in(
                site, import_name=row.package, name=row.distribution, version=row.version
            )
    if folder is None:
        raise _without_bundle(
            row, "no_package", f"there is no package {row.package!r} in a regular folder"
        )
    place = installed.locate(
        str(folder / "__init__.py"),
        import_name=row.package,
        name=row.distribution,
        version=row.version,
    )
    if place.project is None and not (place.site / place.package / BUNDLE_FOLDER).exists():
        raise _without_bundle(row, "no_bundle", f"its package {row.package!r} contains no bundle")
    return place


def _recorded_site(row: Declared, path: tuple[str, ...]) -> Path | None:
    """Return the folder whose RECORD lists the bundle of a declaration; None if there is none."""
    if not _is_module(row.package):
        return None
    package = row.package.replace(".", "/")
    lock = f"{package}/{BUNDLE_FOLDER}/{LOCK_FILE_NAME}"
    for site in (Path(os.path.realpath(place)) for place in path):
        found = distribution.find(site, row.distribution, package)
        if found is not None and found.record is not None and lock in found.record.rows:
            return site
    return None


def _is_module(package: str) -> bool:
    return all(part.isidentifier() for part in package.split("."))


def _without_bundle(row: Declared, code: str, cause: str) -> BundleUnavailableError:
    summary = (
        f"{_owner(row)} declares the collection {row.name!r}, but {cause}. "
        "Install a wheel of it that was built with the skills-bundle build hook."
    )
    error = BundleUnavailableError(summary, (Problem(code=code, message=summary),))
    error.add_note(
        "If it is your project: the table [tool.hatch.build.hooks.skills-bundle] must name this "
        "package, and hooks must not be disabled during the build."
    )
    return error


def _folder(package: str, path: tuple[str, ...]) -> Path | None:
    """Find a package's folder as an import would, importing nothing; None if there is none."""
    if not _is_module(package):
        return None
    top, *below = package.split(".")
    found = [Path(place).joinpath(*below) for place in _places(top, path)]
    folders = [folder for folder in found if folder.is_dir()]
    carrying = [folder for folder in folders if (folder / BUNDLE_FOLDER).is_dir()]
    # A namespace package has several places, and only one of them holds the rest of the name.
    return next(iter(carrying or folders), None)


def _places(top: str, path: tuple[str, ...]) -> Iterable[str]:
    """Return the folders of a top-level package."""
    PathFinder.invalidate_caches()  # an installer may have been here a moment ago
    for finder in sys.meta_path:
        # Others than Python's own are how editable installations redirect a name.
        where = path if finder is PathFinder else None
        spec: ModuleSpec | None = finder.find_spec(top, where)
        if spec is not None:
            return tuple(spec.submodule_search_locations or ())
    return ()
