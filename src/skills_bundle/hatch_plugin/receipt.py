"""Edge: one build of one bundle, from the project's files to its receipt; no archive yet.

```text
prepare   settings, lock and skills agree; entry point is declared; the checkout is inspected
collect   the files of the sdist, each read once; what the commit does not hold stays out
receipt   the checkout is inspected again; a new receipt, or the one that the sdist carries
```
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.archives.model import Member
from skills_bundle.bundle import limits
from skills_bundle.bundle.lock import ENTRY_POINT_GROUP, LOCK_FILE_NAME, catalog_sha256
from skills_bundle.bundle.receipt import (
    RECEIPT_FILE_NAME,
    Asserted,
    BuildReceipt,
    CatalogClaim,
    Inputs,
    Package,
    Source,
    parse,
    seal,
)
from skills_bundle.errors import CheckoutError, InvalidReceiptError, Problem, SettingsError
from skills_bundle.files import reading
from skills_bundle.files.paths import from_disk, shown, to_disk
from skills_bundle.formats.digest import dir_hash, git_object_id, sha256_hex
from skills_bundle.git import proof
from skills_bundle.git.commit import Entry
from skills_bundle.git.proof import Revision, archive, dirty
from skills_bundle.git.repository import SDIST_MARK, open_checkout
from skills_bundle.git.status import inspect, listed
from skills_bundle.hatch_plugin import selection
from skills_bundle.hatch_plugin.inputs import (
    OUTPUT,
    InputCheck,
    check_configuration,
    computed_fields,
    read_file,
)
from skills_bundle.hatch_plugin.selection import Candidate
from skills_bundle.project import project
from skills_bundle.project.settings import CHECKS, normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.git.proof import Reason
    from skills_bundle.hatch_plugin.selection import Metadata
    from skills_bundle.project.settings import Settings

GENERATED: Final = frozenset({SDIST_MARK, RECEIPT_FILE_NAME})
"""Files at an sdist's root that its build makes; never an input of a build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What is known before hatchling writes an archive.

    Attributes:
        root: The project's folder as hatchling spells it.
        settings: Of this bundle.
        package: Normalised name and version of the distribution.
        computed: Fields of the metadata that code or the environment gives.
        lock: Equal to the committed one.
        locked: The locked files and the lock, by path below the project; read once, here.
        before: The checkout as it was before the build.
        check: Decides what ships, and collects what differs from the commit.
        sdist_receipt: The receipt at the root of an unpacked sdist, if there is one.
    """

    root: Path
    settings: Settings
    package: tuple[str, str]
    computed: tuple[str, ...]
    lock: CatalogLock
    locked: Mapping[str, Member]
    before: Revision
    check: InputCheck
    sdist_receipt: bytes | None

    def sources(self, metadata: Metadata) -> dict[str, Member]:
        """Return what an sdist of this project would hold, from the disk; nothing is built.

        Args:
            metadata: hatchling's view of the project's pyproject.toml.
        """
        root = str(self.root)
        needed = selection.of_wheel(root, metadata).values()
        return self.collect(selection.of_sdist(root, metadata), read_candidate, needed)

    def collect(
        self,
        candidates: Mapping[str, Candidate],
        read: Callable[[Candidate], Member | None],
        needed: Iterable[Candidate],
    ) -> dict[str, Member]:
        """Return the files of the sdist by path, without PKG-INFO and receipt.

        Args:
            candidates: What hatchling selects for the sdist.
            read: Returns a file's bytes, or None if it cannot be read.
            needed: What hatchling selects for the wheel.
        """
        left_out = self._unlocked(needed)
        files: dict[str, Member] = {}
        for target, candidate in candidates.items():
            path = self.check.relative(candidate.source)
            if target in GENERATED or path in left_out:
                continue
            member = self.locked.get(path or "") or read(candidate)
            if member is None:
                self.check.leave_out(candidate)
            elif admitted := self.check.admit(candidate, member):
                files[target] = admitted
        for path, member in self.locked.items():
            source = str(self.root / to_disk(path))
            candidate = Candidate(source=source, target=path, declared=True)
            if path not in files and (admitted := self.check.admit(candidate, member)):
                files[path] = admitted
        _require_utf8(files)
        return files

    def _unlocked(self, needed: Iterable[Candidate]) -> set[str]:
        """Return what lies in the skills folder and ships in neither archive.

        The wheel's own selection takes precedence: a skills folder may lie in a package, beside
        code.
        """
        if self.settings.skills == ".":
            return set()
        unlocked = {f"{self.settings.skills}/{entry.path}" for entry in self.lock.unlocked}
        return unlocked - {self.check.relative(candidate.source) for candidate in needed}

    def receipt(
        self, files: Mapping[str, Member], unlisted: list[str], metadata: bytes
    ) -> tuple[BuildReceipt, str]:
        """Return the receipt, and a sentence for the build log ("" if there is nothing to say).

        Args:
            files: What `collect` returned.
            unlisted: Files that ship besides them, which the sdist's receipt does not list.
            metadata: The wheel's core metadata.
        """
        if (self.root / SDIST_MARK).exists():
            return self._relayed(files, unlisted, metadata)
        after = inspect(self.root, self.settings.skills)
        tree = None if self.settings.skills == "." else self.lock.digests.git_tree
        if after.state == "clean" and tree not in {None, after.skills_tree}:
            self.check.compare_folder(self.settings.skills, self._locked_entries())
        revision = settle(self.before, after, self.check.differences, tree)
        return self._new(files, revision, metadata), revision.detail

    def _locked_entries(self) -> dict[str, Entry]:
        """Return the skills folder as the lock describes it, in git's terms."""
        prefix = f"{self.settings.skills}/"
        files = {
            path.removeprefix(prefix): Entry(
                "100755" if member.executable else "100644", git_object_id("blob", member.data)
            )
            for path, member in self.locked.items()
            if path.startswith(prefix)
        }
        return {**files, **{row.path: Entry(row.mode, row.oid) for row in self.lock.unlocked}}

    def _new(
        self, files: Mapping[str, Member], revision: Revision, metadata: bytes
    ) -> BuildReceipt:
        name, version = self.package
        package = Package(
            name=name,
            version=version,
            metadata_sha256=sha256_hex(metadata),
            computed=self.computed,
        )
        source = source_of(revision, with_proof=self.settings.proof)
        return new_receipt(self.settings, package, self.lock, inputs_of(files), source)

    def _relayed(
        self, files: Mapping[str, Member], unlisted: list[str], metadata: bytes
    ) -> tuple[BuildReceipt, str]:
        own = self._new(files, archive("not_git_source", ""), metadata)
        if self.sdist_receipt is None:
            return own, "This sdist contains no receipt."
        if self.check.differences:
            return own, f"Different from the sdist: {listed(sorted(self.check.differences))}."
        if unlisted:
            return own, f"The sdist's receipt does not list {', '.join(unlisted)}."
        found, why = relayed(self.sdist_receipt, own)
        return found or own, why


def prepare(root: str, metadata: Metadata, settings: Settings, output: str = OUTPUT) -> Build:
    """Do everything that can fail before anything is built.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
        settings: Of this bundle.
        output: The folder that the build writes to, relative to the project or absolute.

    Raises:
        SettingsError: If the entry point is missing, or a file has a name the build needs.
        InvalidSkillsError: If a skill is refused; with every problem.
        StaleLockError: If the committed lock does not match the skills.
        InvalidLockError: If it cannot be read.
    """
    folder = Path(root)
    _require_entry_point(metadata, settings)
    _require_forced(root, metadata)
    selected = selection.of_wheel(root, metadata).values()
    paths = (from_disk(os.path.relpath(row.source, root)) for row in selected)
    _require_utf8(paths)  # hatchling would crash
    before = inspect(folder, settings.skills)
    lock, result = project.check_lock(project.with_settings(folder, settings))
    prefix = "" if settings.skills == "." else f"{settings.skills}/"
    locked = {
        f"{prefix}{skill.path}/{file.path}": Member(file.data, file.executable)
        for skill in result.skills
        for file in skill.files
    }
    sdist_receipt = _sdist_receipt(folder)
    outputs = frozenset(folder / each for each in (output, *selection.outputs(root, metadata)))
    check = _input_check(folder, outputs, sdist_receipt)
    check_configuration(check, metadata)
    return Build(
        root=folder,
        settings=settings,
        package=(normalized(metadata.core.name), metadata.version),
        computed=computed_fields(metadata),
        lock=lock,
        locked={**locked, LOCK_FILE_NAME: Member(lock.to_bytes())},
        before=before,
        check=check,
        sdist_receipt=sdist_receipt,
    )


def read_candidate(candidate: Candidate) -> Member | None:
    """Read one file, through links; None if they do not lead to a file."""
    path = Path(candidate.source)
    data = read_file(path)
    return None if data is None else Member(data, bool(path.stat().st_mode & 0o100))


def _require_utf8(paths: Iterable[str]) -> None:
    """Raise unless an archive can hold these names; every other one is a problem."""
    wrong = [path for path in paths if not path.isascii() and shown(path) != path]
    message = "has a name that is not UTF-8; rename it, or exclude it in tool.hatch.build"
    problems = tuple(
        Problem(code="name_not_utf8", message=message, path=shown(path)) for path in sorted(wrong)
    )
    if problems:
        raise SettingsError("Some file names cannot be stored in an archive.", problems)


def _require_forced(root: str, metadata: Metadata) -> None:
    """Raise if the configuration forces files in that do not exist; hatchling would crash."""
    message = "is named in `force-include` and does not exist; create it, or remove the entry"
    missing = {
        Problem(code="force_include_missing", message=message, path=os.path.relpath(source, root))
        for source in selection.forced(root, metadata)
        if not Path(source).exists()
    }
    if missing:
        problems = tuple(sorted(missing, key=str))
        raise SettingsError("Files that the archive must contain are missing.", problems)


def _input_check(root: Path, outputs: frozenset[Path], sdist_receipt: bytes | None) -> InputCheck:
    """Open the checkout if there is one; else go by what the sdist's receipt lists."""
    try:
        return InputCheck(root=root, checkout=open_checkout(root), outputs=outputs)
    except CheckoutError:
        pass
    try:
        inputs = None if sdist_receipt is None else parse(sdist_receipt).inputs
    except InvalidReceiptError:
        inputs = None
    return InputCheck(root=root, checkout=None, outputs=outputs, sdist_inputs=inputs)


def _sdist_receipt(root: Path) -> bytes | None:
    """Read the receipt of an unpacked sdist.

    Raises:
        SettingsError: If a project that is not an sdist has such a file: the build would replace
            it.
    """
    path = root / RECEIPT_FILE_NAME
    if (root / SDIST_MARK).exists():
        return reading.read_named(path, limits.RECEIPT_MAX_BYTES) if path.is_file() else None
    if path.exists():
        message = "the build makes a file of this name; remove it, and never commit it"
        problem = Problem(code="reserved_name", message=message, path=RECEIPT_FILE_NAME)
        raise SettingsError("The project contains a build receipt.", (problem,))
    return None


def _require_entry_point(metadata: Metadata, settings: Settings) -> None:
    """Raise unless servers can find the collection by its entry point; a hook may not add it."""
    declared = metadata.core.entry_points.get(ENTRY_POINT_GROUP, {})
    # A default follows from the project's name and has not been checked yet.
    if wrong := [*CHECKS["package"](settings.package)]:
        path = f"{settings.where or 'tool.hatch.build.hooks'}.package"
        message = f"{settings.package!r}: {'; '.join(wrong)}"
        problem = Problem(code="invalid_setting", message=message, path=path)
        raise SettingsError("No server would find this collection.", (problem,))
    if declared.get(settings.collection) == settings.package:
        return
    where = f'project.entry-points."{ENTRY_POINT_GROUP}"'
    line = f'{settings.collection} = "{settings.package}"'
    message = f"must contain: {line}; `skills-bundle init` writes it"
    problem = Problem(code="no_entry_point", message=message, path=where)
    raise SettingsError("No server would find this collection.", (problem,))


def inputs_of(files: Mapping[str, Member]) -> Inputs:
    """Return the receipt's list of the files of an sdist.

    Args:
        files: By path in the sdist, without PKG-INFO and receipt.

    Raises:
        SettingsError: If there are more than `limits.RECEIPT_MAX_INPUTS`.
    """
    if len(files) > limits.RECEIPT_MAX_INPUTS:
        raise _too_many(f"{len(files)} files; at most {limits.RECEIPT_MAX_INPUTS} can be listed")
    return Inputs(
        dir_hash=dir_hash({path: sha256_hex(member.data) for path, member in files.items()}),
        files=tuple(sorted(files, key=str.encode)),
        executable=tuple(
            sorted((path for path, member in files.items() if member.executable), key=str.encode)
        ),
    )


def new_receipt(
    settings: Settings, package: Package, lock: CatalogLock, inputs: Inputs, source: Source
) -> BuildReceipt:
    """Return the receipt of a build.

    Args:
        settings: What the project claims.
        package: The distribution.
        lock: The lock that ships.
        inputs: What the build is made of.
        source: What the checkout was.

    Raises:
        SettingsError: If it would have more than `limits.RECEIPT_MAX_BYTES`.
    """
    receipt = seal(
        package=package,
        catalog=CatalogClaim(
            sha256=catalog_sha256(lock.to_bytes()), git_tree=lock.digests.git_tree
        ),
        inputs=inputs,
        asserted=Asserted(repository=settings.repository, source_ref=settings.ref(package.version)),
        source=source,
    )
    if (size := len(receipt.to_bytes())) > limits.RECEIPT_MAX_BYTES:
        raise _too_many(f"the receipt would have {size} bytes, more than readers accept")
    return receipt


def _too_many(message: str) -> SettingsError:
    problem = Problem(
        code="too_many_inputs", message=message, path="tool.hatch.build.targets.sdist"
    )
    return SettingsError("The sdist has too many files for a receipt; select fewer.", (problem,))


def settle(
    before: Revision, after: Revision, differences: Mapping[str, Reason], tree: str | None
) -> Revision:
    """Combine what was found of the checkout before, while and after the files were read.

    Args:
        before: The first inspection.
        after: The second.
        differences: What the files that ship showed, by path.
        tree: The git tree that the lock gives for the skills folder, or None if its id cannot be
            the commit's (the skills folder is the project's, and holds the lock itself).
    """
    if before != after:
        return dirty("dirty_source", "The checkout changed while it was being built.")
    if after.state != "clean":
        return after
    if differences:
        only_line_ends = set(differences.values()) == {"eol_converted"}
        reason: Reason = "eol_converted" if only_line_ends else "dirty_source"
        return dirty(reason, f"Different from the commit: {listed(sorted(differences))}.")
    if tree is not None and after.skills_tree != tree:
        return dirty(
            "dirty_source", "The commit's skills folder has a different tree id than the lock."
        )
    return after


def source_of(revision: Revision, *, with_proof: bool) -> Source:
    """Return what the receipt says about the checkout.

    A proof that readers would refuse, since no git of today writes such objects, is left out.
    """
    clean = revision.state == "clean"
    found = Source(
        state=revision.state,
        reason=revision.reason,
        commit=revision.commit,
        skills_tree=revision.skills_tree,
        proof=proof.encode(revision.proof) if clean and with_proof else None,
    )
    return found.model_copy(update={"proof": None}) if proof.problems(found) else found


def relayed(data: bytes, expected: BuildReceipt) -> tuple[BuildReceipt | None, str]:
    """Return the sdist's receipt if it describes this tree, else None and why it does not.

    Args:
        data: Bytes of the receipt at the sdist's root.
        expected: The receipt that this tree gives by itself, with no source.

    Returns:
        The receipt unchanged: package, core metadata, lock, claims and inputs agree with the tree.
        Which files are executable is taken from it, since unpacking may lose the bit.
    """
    try:
        found = parse(data)
    except InvalidReceiptError as error:
        return None, str(error)
    own = expected.inputs.model_copy(update={"executable": found.inputs.executable})
    pairs = {
        "metadata": (found.package, expected.package),
        "catalog": (found.catalog, expected.catalog),
        "asserted": (found.asserted, expected.asserted),
        "inputs": (found.inputs, own),
    }
    differing = [name for name, (one, other) in pairs.items() if one != other]
    differing += ["proof"] if proof.problems(found.source) else []
    if differing:
        return None, f"The sdist's receipt differs in {', '.join(differing)}."
    return found, ""
