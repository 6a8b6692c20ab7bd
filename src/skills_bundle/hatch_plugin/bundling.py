"""Edge: one build of one bundle, from the project's files to the receipt; no archive yet.

```text
prepare   settings, lock and skills agree; entry point is declared; first look at the checkout
collect   the files of the sdist, each read once, closed to what the commit holds
receipt   second look at the checkout; a new receipt, or the one that the sdist carries
```
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.archives.model import Member
from skills_bundle.bundle import limits
from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME, BuildReceipt, Package, parse
from skills_bundle.errors import CheckoutError, InvalidReceiptError, Problem, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.names import from_disk, to_disk
from skills_bundle.formats.digest import git_object_id, sha256_hex
from skills_bundle.git.commit import Entry
from skills_bundle.git.proof import Revision, archive
from skills_bundle.git.repository import SDIST_MARK, open_checkout
from skills_bundle.git.status import inspect, listed
from skills_bundle.hatch_plugin import names, receipts, reliance, selection
from skills_bundle.hatch_plugin.selection import Candidate
from skills_bundle.hatch_plugin.world import World
from skills_bundle.project import project
from skills_bundle.project.settings import CHECKS, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import Inputs
    from skills_bundle.hatch_plugin.selection import Metadata
    from skills_bundle.project.settings import Settings

GENERATED: Final = frozenset({SDIST_MARK, RECEIPT_FILE_NAME})
"""Files at an sdist's root that its build makes; no input of any build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundling:
    """What stands before hatchling runs.

    Attributes:
        root: The project's folder as hatchling spells it.
        settings: Of this bundle.
        package: Normalised name and version of the distribution.
        computed: Fields of the metadata that code or the environment gives.
        lock: Equal to the committed one.
        staged: The locked files and the lock, by path below the project; read once, here.
        before: The first look at the checkout.
        world: Who decides what ships.
        carried: The receipt at the root of an unpacked sdist, if there is one.
    """

    root: Path
    settings: Settings
    package: tuple[str, str]
    computed: tuple[str, ...]
    lock: CatalogLock
    staged: Mapping[str, Member]
    before: Revision
    world: World
    carried: bytes | None

    @property
    def own(self) -> Callable[[str], bool]:
        """Tell this build's products from the project's files."""
        return self.world.own

    def collect(
        self,
        candidates: Mapping[str, Candidate],
        read: Callable[[Candidate], Member | None],
        needed: Iterable[Candidate],
    ) -> dict[str, Member]:
        """Give the files of the sdist by path, PKG-INFO and receipt aside.

        Args:
            candidates: What hatchling selects for the sdist.
            read: Gives a file's bytes, or None if it cannot be read.
            needed: What hatchling selects for the wheel.
        """
        aside = self._aside(needed)
        files: dict[str, Member] = {}
        for target, candidate in candidates.items():
            path = self.world.relative(candidate.source)
            if target in GENERATED or path in aside:
                continue
            member = self.staged.get(path or "") or read(candidate)
            if member is None:
                self.world.refuse(candidate)
            elif admitted := self.world.admit(candidate, member):
                files[target] = admitted
        for path, member in self.staged.items():
            source = str(self.root / to_disk(path))
            candidate = Candidate(source=source, target=path, declared=True)
            if path not in files and (admitted := self.world.admit(candidate, member)):
                files[path] = admitted
        names.demand_utf8(files)
        return files

    def _aside(self, needed: Iterable[Candidate]) -> set[str]:
        """Give what lies in the skills folder and ships in neither archive.

        The wheel's own selection comes first: a skills folder may lie in a package, beside code.
        """
        if self.settings.skills == ".":
            return set()
        unlocked = {f"{self.settings.skills}/{entry.path}" for entry in self.lock.unlocked}
        return unlocked - {self.world.relative(candidate.source) for candidate in needed}

    def receipt(
        self, files: Mapping[str, Member], unlisted: list[str], metadata: bytes
    ) -> tuple[BuildReceipt, str]:
        """Give the receipt, and a sentence for the build log ("" if there is nothing to say).

        Args:
            files: What `collect` gave.
            unlisted: Files that ship besides them, for which the sdist's receipt cannot speak.
            metadata: The wheel's core metadata.
        """
        if (self.root / SDIST_MARK).exists():
            return self._relayed(files, unlisted, metadata)
        after = inspect(self.root, self.settings.skills, is_product=self.own)
        tree = None if self.settings.skills == "." else self.lock.digests.git_tree
        if after.state == "clean" and tree not in {None, after.skills_tree}:
            self.world.compare_tree(self.settings.skills, self._tree())
        revision = receipts.settle(self.before, after, self.world.dirt, tree)
        return self._fresh(files, revision, metadata), revision.detail

    def _tree(self) -> dict[str, Entry]:
        """Give the skills folder as the lock says it is, in git's terms."""
        prefix = f"{self.settings.skills}/"
        files = {
            path.removeprefix(prefix): Entry(
                "100755" if member.executable else "100644", git_object_id("blob", member.data)
            )
            for path, member in self.staged.items()
            if path.startswith(prefix)
        }
        return {**files, **{row.path: Entry(row.mode, row.oid) for row in self.lock.unlocked}}

    def _fresh(
        self, files: Mapping[str, Member], revision: Revision, metadata: bytes
    ) -> BuildReceipt:
        name, version = self.package
        package = Package(
            name=name,
            version=version,
            metadata_sha256=sha256_hex(metadata),
            computed=self.computed,
        )
        source = receipts.source(revision, with_proof=self.settings.proof)
        return receipts.fresh(self.settings, package, self.lock, receipts.inputs(files), source)

    def _relayed(
        self, files: Mapping[str, Member], unlisted: list[str], metadata: bytes
    ) -> tuple[BuildReceipt, str]:
        own = self._fresh(files, archive("not_git_source", ""), metadata)
        if self.carried is None:
            return own, "This sdist carries no receipt."
        if self.world.dirt:
            return own, f"Not as in the sdist: {listed(sorted(self.world.dirt))}."
        if unlisted:
            return own, f"The sdist's receipt does not list {', '.join(unlisted)}."
        found, why = receipts.relayed(self.carried, own)
        return found or own, why


def prepare(
    root: str, metadata: Metadata, settings: Settings, own: Callable[[str], bool]
) -> Bundling:
    """Do all that can fail before anything is built.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
        settings: Of this bundle.
        own: Tells whether a path below the project is a build's product.

    Raises:
        SettingsError: If the entry point is missing, or a file has a name the build needs.
        InvalidSkillsError: If a skill is refused; with every problem.
        StaleLockError: If the committed lock is not what the skills give.
        InvalidLockError: If it cannot be read.
    """
    folder = Path(root)
    _demand_entry_point(metadata, settings)
    selected = selection.of_wheel(root, metadata).values()
    paths = (from_disk(os.path.relpath(row.source, root)) for row in selected)
    names.demand_utf8(paths)  # hatchling would crash
    before = inspect(folder, settings.skills, is_product=own)
    subject = project.with_settings(folder, settings)
    lock, result = project.check_lock(subject)
    prefix = "" if settings.skills == "." else f"{settings.skills}/"
    staged = {
        f"{prefix}{skill.path}/{file.path}": Member(file.data, file.executable)
        for skill in result.skills
        for file in skill.files
    }
    carried = _carried(folder)
    world = _world(folder, own, carried)
    reliance.check(world, metadata)
    return Bundling(
        root=folder,
        settings=settings,
        package=(normalized(metadata.core.name), metadata.version),
        computed=reliance.computed(metadata),
        lock=lock,
        staged={**staged, LOCK_FILE_NAME: Member(lock.to_bytes())},
        before=before,
        world=world,
        carried=carried,
    )


def _world(root: Path, own: Callable[[str], bool], carried: bytes | None) -> World:
    """Open the checkout if there is one; else go by what the carried receipt lists."""
    try:
        return World(root=root, checkout=open_checkout(root), own=own)
    except CheckoutError:
        listed = None if carried is None else _listed(carried)
        return World(root=root, checkout=None, own=own, carried=listed)


def _listed(carried: bytes) -> Inputs | None:
    try:
        return parse(carried).inputs
    except InvalidReceiptError:
        return None


def _carried(root: Path) -> bytes | None:
    """Read the receipt of an unpacked sdist.

    Raises:
        SettingsError: If such a file lies in what is no sdist: the build would replace it.
    """
    path = root / RECEIPT_FILE_NAME
    if (root / SDIST_MARK).exists():
        return reading.read_named(path, limits.RECEIPT_MAX_BYTES) if path.is_file() else None
    if path.exists():
        message = "the build makes a file of this name; remove it, and never commit it"
        problem = Problem(code="reserved_name", message=message, path=RECEIPT_FILE_NAME)
        raise SettingsError("The project holds a build receipt.", (problem,))
    return None


def _demand_entry_point(metadata: Metadata, settings: Settings) -> None:
    """Insist on the entry point by which servers find the collection; a hook may not add it."""
    declared = metadata.core.entry_points.get(ENTRY_POINT_GROUP, {})
    # A default is of the project's name, and nobody has looked at it yet.
    if wrong := [*CHECKS["package"](settings.package)]:
        path = f"{settings.where or 'tool.hatch.build.hooks'}.package"
        message = f"{settings.package!r}: {'; '.join(wrong)}"
        problem = Problem(code="invalid_setting", message=message, path=path)
        raise SettingsError("No server would find this collection.", (problem,))
    if declared.get(settings.collection) == settings.package:
        return
    where = f'project.entry-points."{ENTRY_POINT_GROUP}"'
    line = f'{settings.collection} = "{settings.package}"'
    message = f"must hold: {line}; `skills-bundle init` writes it"
    problem = Problem(code="no_entry_point", message=message, path=where)
    raise SettingsError("No server would find this collection.", (problem,))
