"""Decision: which folder of a commit is the project of a distribution, and its configuration.

A repository may hold several projects. The lock in the archive is looked for first, since hardly
two projects have one lock; then a `pyproject.toml` of the same name.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.errors import Problem, SettingsError, SourceMismatchError
from skills_bundle.formats import toml
from skills_bundle.formats.digest import git_object_id
from skills_bundle.project import limits, settings
from skills_bundle.project.settings import Settings, normalized
from skills_bundle.supply_chain.source.layout import Layout, Table, table

if TYPE_CHECKING:
    from skills_bundle.archives.model import ArchiveKind
    from skills_bundle.git.commit import Commit
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

PYPROJECT: Final = "pyproject.toml"
HATCH_FILE: Final = "hatch.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProject:
    """A project as a commit holds it.

    Attributes:
        commit: The commit.
        folder: From the top of the repository; "" if it is the top.
        document: What its pyproject.toml holds.
        build: hatchling's build table.
        settings: Of the build hook.
    """

    commit: Commit
    folder: str
    document: Table
    build: Table
    settings: Settings

    @property
    def metadata(self) -> Table:
        """The `[project]` table."""
        return table(self.document, "project")

    @property
    def skills_folder(self) -> str:
        """The skills folder from the top of the repository."""
        joined = posixpath.normpath(posixpath.join(self.folder, self.settings.skills))
        return "" if joined == "." else joined

    def layout(self, kind: ArchiveKind) -> Layout:
        """Give the rules by which files get their places in one kind of archive."""
        return Layout(
            kind=kind,
            project=self.folder,
            build=self.build,
            exists=lambda path: self.commit.file(path) is not None,
            name=str(self.metadata.get("name", "")),
            skills=self.settings.skills,
        )


def find(commit: Commit, contents: ArchiveContents, wanted: str | None) -> SourceProject:
    """Find the project of a distribution in a commit.

    Args:
        commit: The commit.
        contents: The distribution.
        wanted: The folder that somebody named, or None to look for it.

    Raises:
        SourceMismatchError: If there is none, there are several, or its configuration cannot be
            read; with the folders that could be named.
    """
    if wanted is not None:
        folder = posixpath.normpath(wanted).strip("/")
        return read(commit, "" if folder == "." else folder)
    folders = _by_lock(commit, contents)
    if len(folders) != 1:
        named = _by_name(commit, contents.identity.name)
        folders = [one for one in folders if one in named] or folders or named
    if len(folders) == 1:
        return read(commit, folders[0])
    raise _several(folders) if folders else _none(commit, contents)


def _by_lock(commit: Commit, contents: ArchiveContents) -> list[str]:
    """Give the folders that hold exactly the lock of the archive."""
    if contents.lock_bytes is None:
        return []
    wanted = git_object_id("blob", contents.lock_bytes)
    return [
        posixpath.dirname(path)
        for path, entry in commit.files().items()
        if posixpath.basename(path) == LOCK_FILE_NAME and entry.oid == wanted
    ]


def _by_name(commit: Commit, name: str) -> list[str]:
    """Give the folders whose pyproject.toml has the name of the distribution."""
    found: list[str] = []
    for path in commit.files():
        if posixpath.basename(path) == PYPROJECT:
            project = table(_toml(commit, path) or {}, "project")
            found += [posixpath.dirname(path)] * (normalized(str(project.get("name"))) == name)
    return found


def _several(folders: list[str]) -> SourceMismatchError:
    problems = tuple(
        Problem(
            code="project_ambiguous",
            message="may be the project; name one with --project",
            path=folder or ".",
        )
        for folder in sorted(folders)
    )
    return SourceMismatchError("Several folders of the commit may be the project.", problems)


def _none(commit: Commit, contents: ArchiveContents) -> SourceMismatchError:
    message = (
        f"holds neither the lock of the archive nor a {PYPROJECT} of {contents.identity.name}; "
        "name the project's folder with --project"
    )
    problem = Problem(code="project_not_in_commit", message=message, path=commit.oid)
    return SourceMismatchError("The commit does not hold the project.", (problem,))


def read(commit: Commit, folder: str) -> SourceProject:
    """Read a project's configuration from a commit.

    Args:
        commit: The commit.
        folder: From the top of the repository; "" for the top.

    Raises:
        SourceMismatchError: If there is no pyproject.toml, or the settings in it cannot be used.
    """
    place = posixpath.join(folder, PYPROJECT)
    document = _toml(commit, place)
    if document is None:
        message = "is not in the commit, is too large or is not TOML"
        problem = Problem(code="project_not_in_commit", message=message, path=place)
        raise SourceMismatchError("The commit holds no project there.", (problem,))
    hatch = _toml(commit, posixpath.join(folder, HATCH_FILE)) or {}
    try:
        found = settings.of_tables(document, hatch)
    except SettingsError as error:
        raise SourceMismatchError(error.summary, error.problems) from error
    build, _ = settings.build_table(document, hatch)
    return SourceProject(
        commit=commit, folder=folder, document=document, build=build, settings=found
    )


def _toml(commit: Commit, path: str) -> Table | None:
    """Read a file of a commit as TOML; None if there is none that can be read."""
    found = commit.file(path)
    if found is None:
        return None
    data = commit.data(found.entry.oid)
    if len(data) > limits.PYPROJECT_MAX_BYTES:
        return None
    try:
        return toml.parse(data, path)
    except SettingsError:
        return None
