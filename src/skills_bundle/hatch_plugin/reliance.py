"""Edge: what a build reads without shipping it: configuration, scripts, ignore files.

Each has a say in what ships, so the commit must hold each as it was read. Where code or the
environment gives a part of the metadata there is nothing to compare; such fields are named.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from skills_bundle.errors import SettingsError
from skills_bundle.formats import toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hatchling.builders.config import BuilderConfig

    from skills_bundle.hatch_plugin.selection import Builder, Metadata
    from skills_bundle.hatch_plugin.world import World

PYPROJECT: Final = "pyproject.toml"
HATCH_FILE: Final = "hatch.toml"
BUILD_SCRIPT: Final = "hatch_build.py"
"""Where hatchling looks for a custom hook that names no path."""
FORMATTED: Final = ("dependencies", "optional-dependencies")
"""Fields in which hatchling fills in folders and variables of the environment: `{root:uri}`."""


class Reliance(NamedTuple):
    """One file a build reads: its absolute path, and what it decides."""

    source: str
    decides: str


def check(world: World, metadata: Metadata) -> None:
    """Let the closed world compare with the commit what this build reads without shipping it.

    Args:
        world: Takes what differs as dirt.
        metadata: hatchling's view of the project, as read before the first look at the checkout.
    """
    root = str(world.root)
    builders: tuple[Builder, ...] = (
        SdistBuilder(root, metadata=metadata),
        WheelBuilder(root, metadata=metadata),
    )
    for builder in builders:
        _check_ignore_files(world, builder)
    if world.checkout is not None:  # an sdist's are among its files, or not read: see PKG-INFO
        for reliance in relied_on(root, metadata):
            world.rely(reliance.source, reliance.decides)
        _check_configuration(world, metadata)
    _check_spelling(world, metadata)


def relied_on(root: str, metadata: Metadata) -> Iterator[Reliance]:
    """Give the configuration files of a build and the scripts that it names.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
    """
    folder = Path(root)
    yield Reliance(str(folder / PYPROJECT), "configures the build")
    if (folder / HATCH_FILE).exists():
        yield Reliance(str(folder / HATCH_FILE), "configures the build")
    hatch = _hatch(metadata)
    version = _table(hatch, "version")
    if _is_dynamic(metadata, "version") and isinstance(path := version.get("path"), str):
        yield Reliance(str(folder / path), "gives the version")
    build = _table(hatch, "build")
    hooks = [_table(hatch, "metadata", "hooks"), _table(build, "hooks")]
    hooks += [_table(build, "targets", target, "hooks") for target in _table(build, "targets")]
    for table in hooks:
        if "custom" in table:
            path = str(_table(table, "custom").get("path", BUILD_SCRIPT))
            yield Reliance(str(folder / path), "is run by the build")


def _check_ignore_files(world: World, builder: Builder) -> None:
    """Compare the ignore files that hatchling goes by.

    It takes the nearest of each kind in any folder above, and none at all where a pattern matches
    the path of the project's own folder; so the same commit can select different files.
    """
    config = cast("BuilderConfig", builder.config)
    if config.ignore_vcs:
        return
    in_force = any(line.strip() for line in config.load_vcs_exclusion_patterns())
    for kind, sources in config.vcs_exclusion_files.items():
        for source in sources:
            if in_force:
                decides = "decides what ships, and would not with `ignore-vcs = true`"
                world.rely(source, decides)
            elif kind == "git" and world.committed(source) and _has_patterns(source):
                where = "has no say in a folder that it matches; set `ignore-vcs = true`"
                world.doubt(source, where)


def _has_patterns(source: str) -> bool:
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    return any(line.strip() and not line.startswith("#") for line in lines)


def _check_configuration(world: World, metadata: Metadata) -> None:
    """Compare what hatchling read, at a moment of its own, with what the commit holds."""
    project = _parsed(world.blob(PYPROJECT))
    if project is None:
        return  # no such file in the commit, which is dirt already; or none that hatchling can read
    hatch = {**_table(project, "tool", "hatch"), **(_parsed(world.blob(HATCH_FILE)) or {})}
    if metadata.config != project or _hatch(metadata) != hatch:
        world.doubt(str(world.root / PYPROJECT), "was otherwise when hatchling read it")


def _check_spelling(world: World, metadata: Metadata) -> None:
    """Doubt names of files in the configuration where the locale reads a disk otherwise.

    hatchling compares patterns, which are UTF-8, with names as the locale's encoding reads them,
    and puts the names of licence files into the metadata as it found them.
    """
    named = f"{_hatch(metadata)}{metadata.core.license_files}"
    if sys.getfilesystemencoding() != "utf-8" and not named.isascii():
        why = "names files outside ASCII and the locale is not UTF-8; set PYTHONUTF8=1"
        world.doubt(str(world.root / PYPROJECT), why)


def _parsed(data: bytes | None) -> dict[str, object] | None:
    try:
        return None if data is None else toml.parse(data, PYPROJECT)
    except SettingsError:
        return None


def computed(metadata: Metadata) -> tuple[str, ...]:
    """Name the fields of the metadata that code or the environment gives, sorted.

    It depends on the configuration, so that an sdist, whose fields hatchling takes from PKG-INFO,
    gives the same. A version that is searched for in a file is not computed: the file is compared.

    Args:
        metadata: hatchling's view of the project's pyproject.toml.
    """
    project = _table(metadata.config, "project")
    dynamic = {str(name) for name in cast("list[object]", project.get("dynamic", []))}
    found = {name for name in FORMATTED if "{" in str(_arrays(project.get(name)))}
    if _table(_hatch(metadata), "metadata", "hooks"):
        found |= dynamic
    version = _table(_hatch(metadata), "version")
    if "version" in dynamic and version.get("source", "regex") != "regex":
        found.add("version")
    return tuple(sorted(found))


def _arrays(value: object) -> list[object]:
    """Give an array of strings, or all those of a table."""
    if isinstance(value, dict):
        return [*cast("dict[str, object]", value).values()]
    return [value] if value else []


def _hatch(metadata: Metadata) -> dict[str, object]:
    """Give `[tool.hatch]` with what a `hatch.toml` puts in its place."""
    # Open generics of hatchling's own.
    config = metadata.hatch.config  # pyright: ignore[reportUnknownMemberType]
    return cast("dict[str, object]", config)


def _is_dynamic(metadata: Metadata, field: str) -> bool:
    return field in cast("list[object]", _table(metadata.config, "project").get("dynamic", []))


def _table(value: object, *keys: str) -> dict[str, object]:
    """Give the table at a path, or an empty one."""
    for key in keys:
        value = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
