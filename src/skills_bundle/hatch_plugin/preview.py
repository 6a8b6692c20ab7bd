"""Edge: what a build here would record, without building; for the `receipt preview` command.

hatchling is imported only when asked: an installation that serves skills need not have it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skills_bundle.errors import Problem, SettingsError

if TYPE_CHECKING:
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.selection import Metadata
    from skills_bundle.project.project import Project


class Preview(NamedTuple):
    """The receipt, and why it names no commit, with local files ("" if it names one)."""

    receipt: BuildReceipt
    detail: str


def preview(subject: Project) -> Preview:
    """Give the receipt that a build of this project would ship now.

    Args:
        subject: As `bundle.project.load` gives it.

    Raises:
        SettingsError: If the project has no hook of ours, hatchling is not installed or cannot
            read the project's metadata, or as the build would raise it.
        InvalidSkillsError: As the build would.
        StaleLockError: As the build would.
        InvalidLockError: As the build would.
    """
    if not (subject.folder / "pyproject.toml").exists():
        message = "is not there; name the folder of a project that builds a wheel"
        problem = Problem(code="no_pyproject", message=message, path="pyproject.toml")
        raise SettingsError("There is no project to build.", (problem,))
    if not subject.settings.where:
        message = "add a table [tool.hatch.build.hooks.skills-bundle]"
        problem = Problem(code="no_hook", message=message, path="pyproject.toml")
        raise SettingsError("A build of this project ships no bundle.", (problem,))
    metadata = _metadata(subject.folder)
    from skills_bundle.hatch_plugin import (  # noqa: PLC0415 - hatchling
        bundling,
        generated,
        sdist,
        selection,
    )

    root = str(subject.folder.resolve())
    prepared = bundling.prepare(root, metadata, subject.settings, _in_dist)
    files = sdist.sources(prepared, metadata)
    for candidate in selection.of_wheel(root, metadata).values():
        member = sdist.from_disk(candidate)
        if member is not None:  # what the wheel ships besides can be dirt too
            prepared.world.admit(candidate, member)
    return Preview(*prepared.receipt(files, [], generated.wheel_metadata(root)))


def _in_dist(path: str) -> bool:
    """Tell archives of earlier builds, where hatchling puts them unless told otherwise."""
    place = Path(path)
    return place.parent == Path("dist") and path.endswith((".whl", ".tar.gz"))


def _metadata(folder: Path) -> Metadata:
    """Let hatchling read the project's metadata.

    Raises:
        SettingsError: If it is not installed, or refuses what it reads.
    """
    try:
        from hatchling.metadata.core import ProjectMetadata  # noqa: PLC0415 - see the module
        from hatchling.plugin.manager import PluginManager  # noqa: PLC0415
    except ImportError as error:
        message = "reads the project's metadata; the extra skills-bundle[hatch] brings it"
        problem = Problem(code="no_hatchling", message=message)
        raise SettingsError("hatchling is not installed here.", (problem,)) from error
    metadata: Metadata = ProjectMetadata(str(folder.resolve()), PluginManager())
    try:
        metadata.validate_fields()
    except (ValueError, TypeError, OSError) as error:  # what hatchling raises for wrong fields
        problem = Problem(code="project_metadata", message=str(error), path="pyproject.toml")
        raise SettingsError("hatchling cannot read the project's metadata.", (problem,)) from error
    return metadata
