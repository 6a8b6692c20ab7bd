"""Edge: the collections that distributions in the running environment declare.

A distribution declares a collection with an entry point of the group `skills_bundle.collections`:
its name is the collection's, its value the import package that carries the bundle. Metadata and
folders are looked at; no package is imported, so no code of theirs runs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import skills_bundle
from skills_bundle.bundle import installed
from skills_bundle.bundle.distribution import normalised
from skills_bundle.bundle.installed import BUNDLE_FOLDER, OWN_NAME
from skills_bundle.errors import BundleUnavailableError, Problem, SkillsBundleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from email.message import Message
    from importlib.machinery import ModuleSpec

    from skills_bundle.bundle.installed import Installed

GROUP: Final = "skills_bundle.collections"
"""The entry-point group; the build hook demands an entry of it."""


class UnknownCollectionError(SkillsBundleError):
    """A collection that no installed distribution declares."""

    exit_code = 2


class AmbiguousCollectionError(SkillsBundleError):
    """A collection that several installed distributions declare: nobody can tell which is meant."""

    exit_code = 3


_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What versions of `importlib.metadata` raise of metadata that is broken or half removed."""


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
    """Give the folders of the running environment: those that imports are looked for in.

    The empty one stands for the working directory, and a folder somebody happens to stand in
    declares nothing. (`python -m skills_bundle` has taken it out by its full name already.)
    """
    return tuple(folder for folder in sys.path if folder)


def installed_collections(path: Sequence[str] | None = None) -> tuple[Declared, ...]:
    """Give every declared collection, sorted by name and then distribution; ours is one of them.

    Of several distributions of one name the first on the path counts, as it does for imports.

    Args:
        path: Folders to look in; by default `search_path()`.
    """
    found = {OWN.distribution: (OWN,)}
    for folder in dict.fromkeys(search_path() if path is None else path):
        here: dict[str, tuple[Declared, ...]] = {}
        # Sorted, so that what an interrupted upgrade left does not make the disk's order count.
        for rows in sorted(map(_declared, metadata.distributions(path=[folder]))):
            here |= {row.distribution: rows for row in rows}
        found = here | found
    return tuple(sorted({row for rows in found.values() for row in rows}))


def find(name: str, path: Sequence[str] | None = None) -> Callable[[], Installed]:
    """Give what says where the package of a collection lies.

    Args:
        name: The collection's name, as its entry point spells it.
        path: Folders to look in; by default `search_path()`.

    Returns:
        A function that looks at the disk each time; it raises `BundleUnavailableError` if the
        package is not there or carries no bundle.

    Raises:
        UnknownCollectionError: If nobody declares it; names those that are declared.
        AmbiguousCollectionError: If several distributions do; names them.
    """
    there = installed_collections(path)
    rows = [row for row in there if row.name == name]
    if not rows:
        raise _unknown(name, there)
    if len(rows) > 1:
        raise ambiguous(rows)
    return opener(rows[0], path)


def opener(row: Declared, path: Sequence[str] | None = None) -> Callable[[], Installed]:
    """Give what says where the package of one declaration lies; see `find`.

    Args:
        row: The declaration.
        path: Folders to look in; by default `search_path()`.
    """
    if row == OWN:  # the code that runs, wherever it was imported from
        return installed.locate
    return partial(_locate, row, tuple(search_path() if path is None else path))


def ambiguous(rows: Sequence[Declared]) -> AmbiguousCollectionError:
    """Tell of declarations that have one name.

    Args:
        rows: At least two.
    """
    message = f"The collection {rows[0].name!r} is declared by more than one distribution: "
    owners = " and ".join(_owner(row) for row in rows)
    return AmbiguousCollectionError(f"{message}{owners}. Uninstall all but one.")


def _owner(row: Declared) -> str:
    return f"{row.distribution} {row.version}".rstrip()


def _unknown(name: str, there: Sequence[Declared]) -> UnknownCollectionError:
    known = list(dict.fromkeys(row.name for row in there))
    close = get_close_matches(name, known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return UnknownCollectionError(
        f"No installed distribution declares the collection {name!r}.{guess} "
        f"Installed: {', '.join(known)}."
    )


def _declared(found: metadata.Distribution) -> tuple[Declared, ...]:
    """Read what one distribution declares; metadata that cannot be read declares nothing."""
    try:
        # Most declare nothing, and reading their names costs far more than this.
        entries = found.entry_points.select(group=GROUP)
        if not entries:
            return ()
        # Its protocol promises no `get` before 3.12, though it always was a message.
        headers = cast("Message[str, str]", found.metadata)
        name, version = headers.get("Name"), headers.get("Version")
    except _UNREADABLE:
        return ()
    if not name:
        return ()
    return tuple(
        Declared(entry.name, normalised(name), version or "", entry.value.partition(":")[0].strip())
        for entry in entries
    )


def _locate(row: Declared, path: tuple[str, ...]) -> Installed:
    folder = _folder(row.package, path)
    if folder is None:
        raise _without_bundle(
            row, "no_package", f"there is no package {row.package!r} in a folder of its own"
        )
    place = installed.locate(
        str(folder / "__init__.py"),
        import_name=row.package,
        name=row.distribution,
        version=row.version,
    )
    if place.project is None and not (place.site / place.package / BUNDLE_FOLDER).exists():
        raise _without_bundle(row, "no_bundle", f"its package {row.package!r} carries no bundle")
    return place


def _without_bundle(row: Declared, code: str, cause: str) -> BundleUnavailableError:
    summary = (
        f"{_owner(row)} declares the collection {row.name!r}, but {cause}. "
        "Install a wheel of it that was built with the skills-bundle build hook."
    )
    error = BundleUnavailableError(summary, (Problem(code=code, message=summary),))
    error.add_note(
        "If it is your project: the table [tool.hatch.build.hooks.skills-bundle] has to name this "
        "package, and hooks must not be switched off when it is built."
    )
    return error


def _folder(package: str, path: tuple[str, ...]) -> Path | None:
    """Find a package's folder as an import would, importing nothing; None if there is none."""
    top, *below = package.split(".")
    if not all(part.isidentifier() for part in (top, *below)):
        return None
    found = [Path(place).joinpath(*below) for place in _places(top, path)]
    folders = [folder for folder in found if folder.is_dir()]
    carrying = [folder for folder in folders if (folder / BUNDLE_FOLDER).is_dir()]
    # A namespace package has several places, and only one of them holds the rest of the name.
    return next(iter(carrying or folders), None)


def _places(top: str, path: tuple[str, ...]) -> Iterable[str]:
    """Give the folders of a top-level package."""
    PathFinder.invalidate_caches()  # an installer may have been here a moment ago
    for finder in sys.meta_path:
        # Others than Python's own are how editable installations redirect a name.
        where = path if finder is PathFinder else None
        spec: ModuleSpec | None = finder.find_spec(top, where)
        if spec is not None:
            return tuple(spec.submodule_search_locations or ())
    return ()
