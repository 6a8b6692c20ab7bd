"""Edge: the receipt that a build would write, without building; for `receipt preview`.

hatchling is imported only when it is needed: an installation that serves skills may lack it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.errors import Problem, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.selection import Metadata
    from skills_bundle.project.project import Project


class Preview(NamedTuple):
    """The receipt, and why it names no commit, with local files ("" if it names one)."""

    receipt: BuildReceipt
    detail: str


def preview(subject: Project) -> Preview:
    """Return the receipt that a build of this project would ship now.

    Args:
        subject: As `project.load` returns it.

    Raises:
        SettingsError: If the project does not use our hook, hatchling is not installed or cannot
            read the project's metadata, or as the build would raise it.
        InvalidSkillsError: As the build would.
        StaleLockError: As the build would.
        InvalidLockError: As the build would.
    """
    if not (subject.folder / "pyproject.toml").exists():
        message = "does not exist; name the folder of a project that builds a wheel"
        problem = Problem(code="no_pyproject", message=message, path="pyproject.toml")
        raise SettingsError("There is no project to build.", (problem,))
    if not subject.settings.where:
        message = "add a table [tool.hatch.build.hooks.skills-bundle]"
        problem = Problem(code="no_hook", message=message, path="pyproject.toml")
        raise SettingsError("A build of this project ships no bundle.", (problem,))
    metadata = _metadata(subject.folder)
    from skills_bundle.hatch_plugin import receipt, selection  # noqa: PLC0415 - hatchling

    root = str(subject.folder.resolve())
    build = receipt.prepare(root, metadata, subject.settings)
    files = build.sources(metadata)
    for candidate in selection.of_wheel(root, metadata).values():
        member = receipt.read_candidate(candidate)
        if member is not None:  # what only the wheel ships can differ as well
            build.check.admit(candidate, member)
    return Preview(*build.receipt(files, [], selection.wheel_metadata(root)))


def _metadata(folder: Path) -> Metadata:
    """Read the project's metadata with hatchling.

    Raises:
        SettingsError: If hatchling is not installed, or refuses what it reads.
    """
    try:
        from hatchling.metadata.core import ProjectMetadata  # noqa: PLC0415 - see the module
        from hatchling.plugin.manager import PluginManager  # noqa: PLC0415
    except ImportError as error:
        message = "reads the project's metadata; the extra skills-bundle[hatch] installs it"
        problem = Problem(code="no_hatchling", message=message)
        raise SettingsError("hatchling is not installed here.", (problem,)) from error
    metadata: Metadata = ProjectMetadata(str(folder.resolve()), PluginManager())
    try:
        metadata.validate_fields()
    except (ValueError, TypeError, OSError) as error:  # what hatchling raises for wrong fields
        problem = Problem(code="project_metadata", message=str(error), path="pyproject.toml")
        raise SettingsError("hatchling cannot read the project's metadata.", (problem,)) from error
    return metadata
