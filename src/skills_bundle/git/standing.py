"""Edge: what git knows of one file that would ship, found through links that the commit holds.

A project may ship a file through a symbolic link, as `LICENSE -> ../../LICENSE` in a repository of
several projects. The link is followed only if the commit holds that very link, and what it ends at
is compared with the commit; so a link cannot bring in what nobody committed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from skills_bundle.files.names import to_disk
from skills_bundle.formats.digest import git_object_id
from skills_bundle.git import limits
from skills_bundle.git.index import LINK_MODE
from skills_bundle.git.proof import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.git.checkout import Checkout

Place: TypeAlias = Literal["head", "index", "untracked", "ignored", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What git knows of one file.

    Attributes:
        place: `head` if the commit holds it; `index` if git tracks it but the commit does not (or
            it lies in a submodule); `untracked`; `ignored`; or `elsewhere`, outside the repository.
        entry: The commit's mode and blob id, for `head` only.
    """

    place: Place
    entry: Entry | None = None


def standing(checkout: Checkout, path: str) -> Standing:
    """Tell what git knows of a file.

    Args:
        checkout: The repository around the project.
        path: Absolute, as the build found it, below the checkout's resolved folder or elsewhere.
    """
    spelled = checkout.inside(path)
    if spelled is None:
        return Standing("elsewhere")
    for _ in range(limits.LINKS_MAX_FOLLOWED):
        link = _first_link(checkout, spelled)
        if link is None:
            return _plain(checkout, spelled)
        place = checkout.top / to_disk(link)
        target = place.readlink()
        if checkout.head_entry(link) != Entry(LINK_MODE, _blob(target)):
            return without_commit(checkout, link)
        rest = spelled.removeprefix(link).removeprefix("/")
        inside = checkout.inside(os.path.normpath(place.parent / target / rest))
        if inside is None:
            return Standing("elsewhere")
        spelled = inside
    return Standing("elsewhere")


def _blob(target: Path) -> str:
    """Give the id of the blob in which git keeps a link's target."""
    return git_object_id("blob", os.fsencode(target.as_posix()))


def _first_link(checkout: Checkout, path: str) -> str | None:
    """Give the outermost part of a path that is a link on disk."""
    done = ""
    for name in path.split("/"):
        done = f"{done}/{name}" if done else name
        if (checkout.top / to_disk(done)).is_symlink():
            return done
    return None


def _plain(checkout: Checkout, path: str) -> Standing:
    entry = checkout.head_entry(path)
    if entry is not None and entry.mode.startswith("100"):
        return Standing("head", entry)
    return without_commit(checkout, path)


def without_commit(checkout: Checkout, path: str) -> Standing:
    """Tell what git knows of a file when the commit does not speak of it.

    Args:
        checkout: The repository around the project.
        path: Relative to the work tree's top.
    """
    if checkout.index_mode(path) is not None or any(
        path.startswith(f"{submodule}/") for submodule in checkout.submodules()
    ):
        return Standing("index")
    return Standing("ignored" if checkout.ignored(path) else "untracked")
