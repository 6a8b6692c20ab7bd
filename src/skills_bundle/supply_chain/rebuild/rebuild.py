"""Edge: `rebuild`: build a commit again, and compare the result with an archive bit for bit.

This runs the commit's own build code with the caller's permissions. It is never reached over MCP,
and nothing else in this package calls it.
"""

from __future__ import annotations

import posixpath
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from skills_bundle.archives.model import ArchiveKind
from skills_bundle.archives.reading import open_archive
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import (
    CheckoutError,
    RepositoryUnavailableError,
    SkillsBundleError,
    SourceMismatchError,
    UnreadableArchiveError,
    UnsafeArchiveError,
)
from skills_bundle.files.paths import to_disk
from skills_bundle.files.writing import replace_file
from skills_bundle.formats.record import Record
from skills_bundle.git.clone import clone
from skills_bundle.git.repository import open_repository
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.diff import ArchiveDiff, compare_archives
from skills_bundle.supply_chain.rebuild import front_end as front_ends
from skills_bundle.supply_chain.source import project as source_project
from skills_bundle.supply_chain.source.files import generator, listed
from skills_bundle.supply_chain.source.verify import Wanted, locate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.git.repository import Repository
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.diff import FileChange
    from skills_bundle.supply_chain.source.project import SourceProject


RebuildVerdict = Literal[
    "identical", "same_content_different_archive", "different_content", "not_rebuildable"
]

EXIT_CODES: Final[dict[RebuildVerdict, Literal[0, 1, 3]]] = {
    "identical": 0,
    "same_content_different_archive": 1,
    "different_content": 1,
    "not_rebuildable": 3,
}
"""Exit codes of `skills-bundle rebuild`. A different archive with the same content fails: an index,
a lock file or a signature names the digest of the archive."""


class Cause(Record):
    """One reason for a verdict.

    Attributes:
        code: Stable; documented in the reference.
        message: A sentence, with what to do if that is known.
    """

    code: str
    message: str


class Rebuilt(Record):
    """The rebuilt archive.

    Attributes:
        file_name: Its name.
        sha256: Digest of its bytes.
        size: In bytes.
    """

    file_name: str
    sha256: str
    size: int


class Rebuild(Record):
    """The result of building a commit again.

    Attributes:
        verdict: `identical`: bit for bit. `same_content_different_archive`: the same files with the
            same bytes and modes, but packed or named differently. `different_content`: the files
            differ. `not_rebuildable`: nothing was built that could be compared.
        exit_code: 0, 1, 1 or 3, in that order.
        file_name: Of the given archive.
        kind: `wheel` or `sdist`.
        sha256: Digest of the given archive.
        package_name: Normalised name of the distribution.
        package_version: Its version.
        repository: The folder that was cloned; null if it could not be opened.
        commit: Full id of the commit; null if none was found.
        project: The project's folder in it, `.` for the top; null likewise.
        front_end: `uv`, `build`, `pip` or `hatch`; null if none was run.
        rebuilt: The rebuilt archive; null if there is none.
        causes: Why the verdict is not `identical`.
        diff: The difference, from the given archive to the rebuilt one; null if there is none.
        log: The last lines of the front end's log, if it failed.
    """

    verdict: RebuildVerdict
    exit_code: Literal[0, 1, 3]
    file_name: str
    kind: ArchiveKind
    sha256: str
    package_name: str
    package_version: str
    repository: str | None = None
    commit: str | None = None
    project: str | None = None
    front_end: str | None = None
    rebuilt: Rebuilt | None = None
    causes: tuple[Cause, ...] = ()
    diff: ArchiveDiff | None = None
    log: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a JSON object."""
        return self.model_dump(mode="json")


PACKED_SIZE: Final = "packed size"
"""Name of the fact that follows from a member's compression."""
COMPRESSED: Final = Cause(
    code="compression",
    message="both are compressed, but by different versions or levels of zlib",
)
GENERATED: Final = {*source_project.GENERATED["wheel"], *source_project.GENERATED["sdist"]}


def causes_of(
    given: ArchiveContents, rebuilt: ArchiveContents, diff: ArchiveDiff
) -> tuple[Cause, ...]:
    """Return the causes of a difference.

    Args:
        given: Of the given archive.
        rebuilt: Of the rebuilt archive.
        diff: Their difference; they are not identical.
    """
    if not diff.members:
        named = tuple(_names(given, rebuilt))
        return (*named, *_packing(given, rebuilt, diff)) or (COMPRESSED,)
    found = [*_names(given, rebuilt), *_generator(given, rebuilt)]
    changed = {posixpath.basename(row.path): row for row in diff.members}
    found += _metadata(given, rebuilt, changed)
    found += _receipt(given.receipt.value, rebuilt.receipt.value, changed)
    found += _files(diff)
    if not found:
        found.append(Cause(code="record", message=f"only {listed(list(changed))} differ"))
    return tuple(found)


def _packing(
    given: ArchiveContents, rebuilt: ArchiveContents, diff: ArchiveDiff
) -> Iterator[Cause]:
    """Return how the packing of two archives of the same files differs."""
    if given.archive.top != rebuilt.archive.top:
        text = f"the top folder is {given.archive.top}, and {rebuilt.archive.top} in the rebuild"
        yield Cause(code="file_name", message=text)
    if rebuilt.archive.canonical == "yes" and given.archive.canonical != "yes":
        text = (
            "the rebuild has the canonical form that the build hook writes, but the given archive "
            "does not: it was repacked after its build, or built with another version of the hook"
        )
        yield Cause(code="packed_again", message=text)
    for change in diff.wrapping:
        if change.name not in {"size", "kind", "file name", "top folder"}:
            text = f"{change.name}: {change.before or 'none'}, and {change.after or 'none'} rebuilt"
            yield Cause(code="packing", message=text)
    yield from _entry_facts(diff)


def _entry_facts(diff: ArchiveDiff) -> Iterator[Cause]:
    """Return each fact about entries that differs, with an example."""
    facts = [(row.path, change) for row in diff.entries for change in row.changes]
    found = {fact.name: [row for row in facts if row[1].name == fact.name] for _, fact in facts}
    sizes = found.pop(PACKED_SIZE, [])
    for name, rows in found.items():
        path, first = rows[0]
        text = (
            f"{name} of {len(rows)} entries: {first.before or 'none'} of {path}, "
            f"and {first.after or 'none'} rebuilt"
        )
        yield Cause(code="packing", message=text)
    if sizes and "compression" not in found:
        yield COMPRESSED


def _names(given: ArchiveContents, rebuilt: ArchiveContents) -> Iterator[Cause]:
    one, other = given.archive.file_name, rebuilt.archive.file_name
    if one != other:
        text = f"the archive is called {one}, and {other} in the rebuild"
        yield Cause(code="file_name", message=text)


def _member(contents: ArchiveContents, name: str) -> bytes:
    path = f"{contents.dist_info}/{name}" if contents.dist_info else name
    member = contents.archive.members.get(path)
    return b"" if member is None else member.data


def _generator(given: ArchiveContents, rebuilt: ArchiveContents) -> Iterator[Cause]:
    one, other = (generator(_member(each, "WHEEL")) for each in (given, rebuilt))
    if one != other:
        pin = one.replace(" ", "==")
        text = (
            f"it was built with {one or 'an unnamed tool'}, and the rebuild with "
            f"{other or 'another'}; the project should pin it in build-system.requires, or use a "
            f"file with {pin} for --build-constraint"
        )
        yield Cause(code="generator", message=text)


def _metadata(
    given: ArchiveContents, rebuilt: ArchiveContents, changed: dict[str, FileChange]
) -> Iterator[Cause]:
    for name in {"METADATA", "PKG-INFO"} & changed.keys():
        rows = [_lines(_member(each, name)) for each in (given, rebuilt)]
        fields = sorted({row.partition(":")[0] for row in rows[0] ^ rows[1]})
        text = f"{name} differs in {listed(fields) or 'its description'}"
        receipt = given.receipt.value
        if receipt is not None and receipt.package.computed:
            text += f"; computed at each build: {', '.join(receipt.package.computed)}"
        yield Cause(code="metadata", message=text)


def _lines(data: bytes) -> set[str]:
    """Return the lines of the fields, without the description after them."""
    return set(data.decode(errors="replace").partition("\n\n")[0].splitlines())


def _receipt(
    given: BuildReceipt | None, rebuilt: BuildReceipt | None, changed: dict[str, FileChange]
) -> Iterator[Cause]:
    if RECEIPT_FILE_NAME not in changed or given is None or rebuilt is None:
        return
    if rebuilt.source.state != given.source.state:
        text = f"the rebuild's receipt names no commit: {rebuilt.source.reason}"
        yield Cause(code="receipt", message=text)
        return
    parts: dict[str, Callable[[BuildReceipt], object]] = {
        "package": lambda one: one.package,
        "catalog": lambda one: one.catalog,
        "inputs": lambda one: one.inputs,
        "asserted": lambda one: one.asserted,
        "source": lambda one: one.source,
    }
    differing = [name for name, get in parts.items() if get(given) != get(rebuilt)]
    yield Cause(code="receipt", message=f"the receipts differ in {', '.join(differing)}")


def _files(diff: ArchiveDiff) -> Iterator[Cause]:
    """Return the files that differ and are not generated by the build."""
    words = {
        "removed": ("only_given", "only the given archive contains"),
        "added": ("only_rebuilt", "only the rebuild contains"),
        "changed": ("files", "different bytes:"),
        "executable": ("modes", "different executable bits:"),
    }
    rows = [row for row in diff.members if posixpath.basename(row.path) not in GENERATED]
    for kind, (code, text) in words.items():
        paths = [row.path for row in rows if kind in row.kinds]
        if paths:
            yield Cause(code=code, message=f"{text} {listed(paths)}")


PREFIX = "skills-bundle-rebuild-"
"""Prefix of the temporary folder's name."""


def _silent(_phase: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to build a commit again.

    Attributes:
        environ: The caller's environment; `front_end.environment` selects what a build gets.
        front_end: The front end, or None for the first that is installed.
        isolated: Whether to build in a separate environment.
        constraint: A file of constraints for the build requirements, or None.
        python: The interpreter to build with, or None for the current one.
        project: The project's folder in the repository, or None to search.
        keep: An empty folder for the rebuilt archive, or None to remove it.
        seconds: The time limit of the front end.
        phase: Called with the name of each phase; returns a context manager around it.
    """

    environ: Mapping[str, str]
    front_end: front_ends.FrontEnd | None = None
    isolated: bool = True
    constraint: Path | None = None
    python: str | None = None
    project: str | None = None
    keep: Path | None = None
    seconds: float = limits.REBUILD_SECONDS
    phase: Callable[[str], AbstractContextManager[None]] = _silent


def rebuild(file: Path, repository: Path, options: Options) -> Rebuild:
    """Build the commit of an archive again and compare.

    Everything is built in one temporary folder, which is removed even after an interruption.

    Args:
        file: A wheel or an sdist.
        repository: A folder of a git repository, or a bare one; it is only read.
        options: How to build.

    Returns:
        The report, also if the commit cannot be built again.

    Raises:
        UnreadableArchiveError: If the archive cannot be read.
        UnsafeArchiveError: If it is unsafe to read.
    """
    given = contents_of(open_archive(file))
    report = Rebuild(
        verdict="not_rebuildable",
        exit_code=EXIT_CODES["not_rebuildable"],
        file_name=given.archive.file_name,
        kind=given.archive.kind,
        sha256=given.archive.sha256,
        package_name=given.identity.name,
        package_version=given.identity.version,
    )
    try:
        opened = open_repository(repository)
        report = _with(report, repository=opened.path)
        project = locate(given, opened, Wanted(project=options.project))
        report = _with(report, commit=project.commit.oid, project=project.folder or ".")
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            return _built(given, opened, project, (Path(folder).resolve(), options, report))
    except (RepositoryUnavailableError, SourceMismatchError, CheckoutError) as error:
        return _with(report, causes=_causes(error))


def _with(report: Rebuild, **more: Any) -> Rebuild:  # noqa: ANN401 - fields of the report
    return report.model_copy(update=more)


def _causes(error: SkillsBundleError) -> tuple[Cause, ...]:
    return tuple(
        Cause(code=problem.code, message=f"{problem.path}: {problem.message}")
        if problem.path
        else Cause(code=problem.code, message=problem.message)
        for problem in error.problems
    )


def _built(
    given: ArchiveContents,
    repository: Repository,
    project: SourceProject,
    work: tuple[Path, Options, Rebuild],
) -> Rebuild:
    """Clone, build and compare in a temporary folder."""
    folder, options, report = work
    order = _order(given, folder, project, options)
    environ = front_ends.environment(options.environ, str(folder / "tmp"))
    chosen = front_ends.choose(options.front_end, order, environ)
    if chosen is None:
        return _with(report, causes=(_no_front_end(options),))
    report = _with(report, front_end=chosen.name)
    with options.phase(f"Cloning {project.commit.oid[:12]} ..."):
        clone(repository, project.commit, folder / "source")
    try:
        with options.phase(f"Building with {chosen.name} ..."):
            archive = front_ends.build(chosen, order, environ, options.seconds)
        return _compared(given, archive, options, report)
    except front_ends.BuildFailedError as error:
        return _with(report, causes=_causes(error), log=error.log)


def _order(
    given: ArchiveContents, folder: Path, project: SourceProject, options: Options
) -> front_ends.Order:
    for name in ("out", "tmp"):
        (folder / name).mkdir()
    return front_ends.Order(
        kind=given.archive.kind,
        project=str(folder / "source" / to_disk(project.folder)),
        out=str(folder / "out"),
        python=_interpreter(options.python),
        isolated=options.isolated,
        constraint=None if options.constraint is None else str(options.constraint.resolve()),
    )


def _interpreter(python: str | None) -> str | None:
    """Return an absolute path to an interpreter, because the build has another current folder."""
    is_path = python is not None and Path(python).name != python
    # Not resolved: the link in a virtual environment selects the environment.
    return str(Path.cwd() / python) if python is not None and is_path else python


def _no_front_end(options: Options) -> Cause:
    if options.front_end is None:
        text = "none of uv, build, pip and hatch is installed; install one, for example uv"
    elif options.python is None:
        text = f"{options.front_end} is not installed"
    else:
        text = f"{options.python} is not a working interpreter with {options.front_end}"
    return Cause(code="no_front_end", message=text)


def _compared(given: ArchiveContents, archive: Path, options: Options, report: Rebuild) -> Rebuild:
    with options.phase("Comparing ..."):
        try:
            rebuilt = contents_of(open_archive(archive, kind=given.archive.kind))
        except (UnsafeArchiveError, UnreadableArchiveError) as error:
            return _with(report, causes=_causes(error))
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            replace_file(options.keep / archive.name, archive.read_bytes())
        diff = compare_archives(given.archive, rebuilt.archive)
    verdict: RebuildVerdict = "different_content"
    same_name = given.archive.file_name == rebuilt.archive.file_name  # installers use it
    if diff.identical and same_name:
        verdict = "identical"
    elif not diff.members:
        verdict = "same_content_different_archive"
    made = rebuilt.archive
    return _with(
        report,
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        rebuilt=Rebuilt(file_name=made.file_name, sha256=made.sha256, size=made.size),
        causes=() if verdict == "identical" else causes_of(given, rebuilt, diff),
        diff=diff,
    )
