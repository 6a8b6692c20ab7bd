"""Edge: a commit built again, and what comes of it compared with an archive, bit for bit.

This runs the commit's own build code with the rights of whoever calls it. It is never reached over
MCP, and nothing else in this package calls it.
"""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills_bundle.archives.reading import open_archive
from skills_bundle.errors import (
    CheckoutError,
    RepositoryUnavailableError,
    SkillsBundleError,
    SourceMismatchError,
    UnreadableArchiveError,
    UnsafeArchiveError,
)
from skills_bundle.files.names import to_disk
from skills_bundle.files.writing import replace_file
from skills_bundle.git.clone import clone
from skills_bundle.git.repository import open_repository
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.diff import compare_archives
from skills_bundle.supply_chain.rebuild import causes as rebuild_causes
from skills_bundle.supply_chain.rebuild import front_end as front_ends
from skills_bundle.supply_chain.rebuild import front_end_run
from skills_bundle.supply_chain.rebuild.front_end import Order
from skills_bundle.supply_chain.rebuild.front_end_run import BuildFailedError
from skills_bundle.supply_chain.rebuild.report import EXIT_CODES, Cause, Rebuild, Rebuilt
from skills_bundle.supply_chain.source.verify import Wanted, locate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from skills_bundle.git.repository import Repository
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.rebuild.front_end import FrontEnd
    from skills_bundle.supply_chain.rebuild.report import RebuildVerdict
    from skills_bundle.supply_chain.source.project import SourceProject

PREFIX = "skills-bundle-rebuild-"
"""How the name of the temporary folder begins."""


def _silent(_phase: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a commit is to be built again.

    Attributes:
        environ: The caller's environment; see `front_end.environment` for what a build gets of it.
        front_end: Which, or None for the first that is there.
        isolated: Whether the build gets an environment of its own.
        constraint: A file of constraints for what the build requires, or None.
        python: The interpreter to build with, or None for the one that runs us.
        project: The project's folder in the repository, or None to look for it.
        keep: An empty folder for the rebuilt archive, or None to remove it with the rest.
        seconds: How long the front end may take.
        phase: Called with a word for each phase; what it gives is entered around it.
    """

    environ: Mapping[str, str]
    front_end: FrontEnd | None = None
    isolated: bool = True
    constraint: Path | None = None
    python: str | None = None
    project: str | None = None
    keep: Path | None = None
    seconds: float = limits.REBUILD_SECONDS
    phase: Callable[[str], AbstractContextManager[None]] = _silent


def rebuild(file: Path, repository: Path, options: Options) -> Rebuild:
    """Build the commit of an archive again and compare.

    Everything is made in one temporary folder, which is removed also when this is interrupted.

    Args:
        file: A wheel or an sdist.
        repository: A folder of a git repository, or a bare one; it is only read.
        options: How to build.

    Returns:
        A report; what keeps a commit from being built again is one, too.

    Raises:
        UnreadableArchiveError: If the archive cannot be read.
        UnsafeArchiveError: If it is refused.
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
        report = report.model_copy(update={"repository": opened.path})
        project = _project(given, opened, options)
        found = {"commit": project.commit.oid, "project": project.folder or "."}
        report = report.model_copy(update=found)
        with tempfile.TemporaryDirectory(prefix=PREFIX) as room:
            return _built(given, opened, project, (Path(room).resolve(), options, report))
    except (RepositoryUnavailableError, SourceMismatchError, CheckoutError) as error:
        return _with(report, causes=_causes(error))


def _project(given: ArchiveContents, repository: Repository, options: Options) -> SourceProject:
    return locate(given, repository, Wanted(project=options.project))


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
    """Clone, build and compare in a folder of our own."""
    room, options, report = work
    order = _order(given, room, project, options)
    environ = front_ends.environment(options.environ, str(room / "tmp"))
    chosen = front_end_run.choose(options.front_end, order, environ)
    if chosen is None:
        return _with(report, causes=(_no_front_end(options),))
    report = _with(report, front_end=chosen.name)
    with options.phase(f"Cloning {project.commit.oid[:12]} ..."):
        clone(repository, project.commit, room / "source")
    try:
        with options.phase(f"Building with {chosen.name} ..."):
            archive = front_end_run.build(chosen, order, environ, options.seconds)
        return _compared(given, archive, options, report)
    except BuildFailedError as error:
        return _with(report, causes=_causes(error), log=error.log)


def _order(given: ArchiveContents, room: Path, project: SourceProject, options: Options) -> Order:
    for name in ("out", "tmp"):
        (room / name).mkdir()
    return Order(
        kind=given.archive.kind,
        project=str(room / "source" / to_disk(project.folder)),
        out=str(room / "out"),
        python=_interpreter(options.python),
        isolated=options.isolated,
        constraint=None if options.constraint is None else str(options.constraint.resolve()),
    )


def _interpreter(python: str | None) -> str | None:
    """Give a path to an interpreter from where we stand, since the build stands elsewhere."""
    is_path = python is not None and Path(python).name != python
    # Not resolved: through the link of a virtual environment it would be another interpreter.
    return str(Path.cwd() / python) if python is not None and is_path else python


def _no_front_end(options: Options) -> Cause:
    if options.front_end is None:
        text = "there is none of uv, build, pip and hatch; install one, for example uv"
    elif options.python is None:
        text = f"{options.front_end} is not there"
    else:
        text = f"{options.python} is no interpreter that runs here and has {options.front_end}"
    return Cause(code="no_front_end", message=text)


def _compared(given: ArchiveContents, archive: Path, options: Options, report: Rebuild) -> Rebuild:
    with options.phase("Comparing ..."):
        try:
            made = contents_of(open_archive(archive, kind=given.archive.kind))
        except (UnsafeArchiveError, UnreadableArchiveError) as error:
            return _with(report, causes=_causes(error))
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            replace_file(options.keep / archive.name, archive.read_bytes())
        diff = compare_archives(given.archive, made.archive)
    verdict: RebuildVerdict = "different_content"
    same_name = given.archive.file_name == made.archive.file_name  # installers go by it
    if diff.identical and same_name:
        verdict = "identical"
    elif not diff.members:
        verdict = "same_content_different_archive"
    rebuilt = made.archive
    return _with(
        report,
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        rebuilt=Rebuilt(file_name=rebuilt.file_name, sha256=rebuilt.sha256, size=rebuilt.size),
        causes=() if verdict == "identical" else rebuild_causes.of(given, made, diff),
        diff=diff,
    )
