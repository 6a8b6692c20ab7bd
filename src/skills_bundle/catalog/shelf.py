"""Decision: a bundle as MCP sees it: resources, folders, skill entries, and the bytes behind them.

Everything is the lock, rendered. The same bundle as the tools' is asked, in the same way: looked at
again for every question, and every byte that is handed out was hashed on its way.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.catalog import entries, media_types, uris
from skills_bundle.catalog.errors import refusal
from skills_bundle.catalog.shelves import show
from skills_bundle.errors import BundleUnavailableError
from skills_bundle.files import paths
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills_bundle.bundle.lock import CatalogLock, LockedFile, LockedSkill
    from skills_bundle.catalog.entries import Entries, Item, JsonObject
    from skills_bundle.catalog.shelves import Shown
    from skills_bundle.installed.bundle import Bundle, BundleState

FOLDER_TYPE: Final = "inode/directory"
"""Media type of a folder, as the skills extension calls it."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """One lock, rendered once.

    Attributes:
        entries: Its skills.
        resources: Path of every locked file to the resource it is, in the order of the lock.
        folders: Path of every folder that holds a locked file, however deep, to its direct
            children as resources, by the bytes of their paths. The path of the collection's own
            folder is empty; only where several collections are served has that folder a URI.
    """

    entries: Entries
    resources: Mapping[str, Item]
    folders: Mapping[str, tuple[Item, ...]]


class Shelf:
    """What MCP's resources and skills are made of.

    Args:
        bundle: Holds the skills.
        base: What the URIs of this collection begin with.
    """

    def __init__(self, bundle: Bundle, base: str = uris.SCHEME) -> None:
        """Touch nothing yet."""
        self._bundle = bundle
        self.base = base
        self._rendered: tuple[object, Rendering | None] = (None, None)
        self.seen: str | None = None
        """Digest of the lock that was last looked at; None before the first look."""

    def view(self) -> BundleState:
        """Look at the bundle and give what can be served.

        Raises:
            ToolError: `catalog_unavailable`.
        """
        try:
            view = self._bundle.current()
        except BundleUnavailableError as error:
            raise refusal("catalog_unavailable") from error
        self.seen = view.provenance.catalog_sha256
        return view

    def show(self) -> Shown:
        """Look at the bundle and give all of it.

        Raises:
            ToolError: `catalog_unavailable`.
        """
        return show(self)

    def rendering(self, view: BundleState) -> Rendering:
        """Give what a view's lock renders to; done once as long as the lock stays the same."""
        lock, rendering = self._rendered
        if rendering is None or lock is not view.lock:
            rendering = render(view.lock, self.base)
            self._rendered = (view.lock, rendering)
        return rendering

    def read(self, path: str) -> bytes:
        """Read a file of the view that was given last.

        Raises:
            UnsafeFileError: If it is not the file that was locked.
        """
        return self._bundle.read(path)


def render(lock: CatalogLock, base: str = uris.SCHEME) -> Rendering:
    """Render a whole lock.

    Args:
        lock: The lock.
        base: What the URIs of its collection begin with.
    """
    resources = {
        f"{skill.path}/{file.path}": entries.item(_resource(skill, file, base))
        for skill in lock.skills
        for file in skill.files
    }
    return Rendering(entries.build(lock, base), resources, _folders(resources, base))


def _resource(skill: LockedSkill, file: LockedFile, base: str) -> JsonObject:
    value: JsonObject = {"uri": uris.of(f"{skill.path}/{file.path}", base)}
    if file.path == SKILL_MD:
        described = {"name": skill.name, "description": str(skill.frontmatter["description"])}
        value |= described
    else:
        value["name"] = file.path.rsplit("/", 1)[-1]
    kind = media_types.listed(file.path)
    if kind is not None:
        value["mimeType"] = kind
    return {**value, "size": file.size}


def _folders(resources: Mapping[str, Item], base: str) -> dict[str, tuple[Item, ...]]:
    children: defaultdict[str, dict[str, Item]] = defaultdict(dict)
    for path, resource in resources.items():
        for child, parent in _steps(path):
            item = resource if child == path else _folder(child, base)
            children[parent].setdefault(child, item)
    return {
        folder: tuple(inside[path] for path in sorted(inside, key=str.encode))
        for folder, inside in children.items()
    }


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Give each part of a path with the folder above it; above the first is the collection."""
    chain = ["", *paths.parents(path), path]
    return zip(chain[1:], chain, strict=False)


def _folder(path: str, base: str) -> Item:
    name = path.rsplit("/", 1)[-1]
    return entries.item({"uri": uris.of(path, base), "name": name, "mimeType": FOLDER_TYPE})
