"""Edge: a declaration of a collection, and where the package it names lies.

Folders are looked at; no package is imported, so no code of theirs runs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Final

import skills_bundle
from skills_bundle.errors import BundleUnavailableError, Problem
from skills_bundle.installed import location as installed
from skills_bundle.installed.location import BUNDLE_FOLDER, OWN_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.machinery import ModuleSpec

    from skills_bundle.installed.location import Installed


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


def opener(row: Declared, path: Sequence[str] | None = None) -> Callable[[], Installed]:
    """Give what says where the package of one declaration lies; see `find`.

    Args:
        row: The declaration.
        path: Folders to look in; by default `search_path()`.
    """
    if row == OWN:  # the code that runs, wherever it was imported from
        return installed.locate
    return partial(_locate, row, tuple(search_path() if path is None else path))


def owner(row: Declared) -> str:
    """Give the distribution of a declaration as people name it."""
    return f"{row.distribution} {row.version}".rstrip()


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
        f"{owner(row)} declares the collection {row.name!r}, but {cause}. "
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
