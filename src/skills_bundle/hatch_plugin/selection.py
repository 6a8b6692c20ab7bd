"""Edge: which files hatchling would put into an archive, and where each comes from."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.utils import normalize_inclusion_map
from hatchling.builders.wheel import WheelBuilder

from skills_bundle.files.names import from_disk
from skills_bundle.hatch_plugin.names import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hatchling.builders.plugin.interface import BuilderInterface, IncludedFile
    from hatchling.builders.sdist import SdistBuilderConfig
    from hatchling.builders.wheel import WheelBuilderConfig
    from hatchling.metadata.core import CoreMetadata, ProjectMetadata

    # hatchling's own generics are invariant in plugin types we never touch.
    Builder = BuilderInterface[Any, Any]
    Metadata = ProjectMetadata[Any]

SCRIPTS: Final = ".data/scripts/"
LEGACY: Final = "setup.py"
WALKS: Final = ("recurse_project_files", "recurse_explicit_files", "recurse_forced_files")
"""The methods of hatchling's builders that find files; none of them calls another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One file that hatchling selected.

    Attributes:
        source: Absolute path on disk, as Python spells it here.
        target: Path in the archive, as git spells it; in an sdist below its top folder.
        declared: Whether someone asked for this very file: `artifacts`, `force-include`, a hook.
        ambient: Whether it is an ignore file, which hatchling picks up wherever it finds one.
        rewritten: Whether hatchling may have changed the first line, as it does for scripts.
    """

    source: str
    target: str
    declared: bool = False
    ambient: bool = False
    rewritten: bool = False


def of_build(builder: Builder, build_data: dict[str, Any]) -> dict[str, Candidate]:
    """Give what a running build selected, by path in the archive.

    Args:
        builder: The builder that called the hook.
        build_data: What all hooks left in it.
    """
    with builder.config.set_build_data(build_data):
        found = [*_selected(builder), *_forced(builder)]
        if isinstance(builder, WheelBuilder):
            found += _wheel_extras(builder, build_data)
        elif cast("SdistBuilderConfig", builder.config).support_legacy:
            found = [row for row in found if row.target != LEGACY]  # hatchling writes its own
    return {candidate.target: candidate for candidate in found}


def of_sdist(root: str, metadata: Metadata) -> dict[str, Candidate]:
    """Give what an sdist of the project would hold if no hook added to it.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
    """
    return _untouched(SdistBuilder(root, metadata=metadata))


def of_wheel(root: str, metadata: Metadata) -> dict[str, Candidate]:
    """Give what a wheel of the project would hold if no hook added to it; likewise."""
    return _untouched(WheelBuilder(root, metadata=metadata))


def respell(builder: Builder) -> None:
    """Have a builder name files as git does, whatever encoding the locale has.

    hatchling names the members of an archive as Python read the names from the disk: in a Latin-1
    locale `für.py` would become `fÃ¼r.py`, and in an ASCII one the build would crash. Where the
    locale is UTF-8 nothing changes.

    Args:
        builder: Its walks over files are wrapped, once.
    """
    if sys.getfilesystemencoding() == "utf-8" or WALKS[0] in vars(builder):
        return
    for name in WALKS:
        setattr(builder, name, _respelling(getattr(builder, name)))


def _respelling(walk: Callable[..., Iterable[IncludedFile]]) -> Callable[..., Iterable[object]]:
    def files(*arguments: object) -> Iterator[IncludedFile]:
        for file in walk(*arguments):
            file.relative_path = from_disk(file.relative_path)
            file.distribution_path = from_disk(file.distribution_path)
            yield file

    return files


def _untouched(builder: Builder) -> dict[str, Candidate]:
    respell(builder)
    build_data = builder.get_default_build_data()
    builder.set_build_data_defaults(build_data)
    return of_build(builder, build_data)


def _selected(builder: Builder) -> Iterator[Candidate]:
    for file in builder.recurse_selected_project_files():
        declared = builder.config.path_is_artifact(file.relative_path)
        declared |= builder.config.path_is_build_artifact(file.relative_path)
        yield _candidate(file, "", declared=declared)


def _forced(builder: Builder) -> Iterator[Candidate]:
    ambient = {path for files in builder.config.vcs_exclusion_files.values() for path in files}
    for file in builder.recurse_forced_files(builder.config.get_force_include()):
        yield _candidate(file, "", declared=True, ambient=file.path in ambient)


def _candidate(
    file: IncludedFile, folder: str, *, declared: bool = True, ambient: bool = False
) -> Candidate:
    return Candidate(
        source=file.path,
        target=plain(folder + file.distribution_path.replace(os.sep, "/")),
        declared=declared,
        ambient=ambient,
        rewritten=folder.endswith(SCRIPTS),
    )


def _wheel_extras(builder: Builder, build_data: dict[str, Any]) -> Iterator[Candidate]:
    """Give the files that a wheel's tables place outside the packages."""
    config = cast("WheelBuilderConfig", builder.config)
    root, name = Path(builder.root), cast("WheelBuilder", builder).artifact_project_id
    tables: tuple[tuple[str, dict[str, str], str], ...] = (
        (f"{name}.data/data/", config.shared_data, "shared_data"),
        (f"{name}{SCRIPTS}", config.shared_scripts, "shared_scripts"),
        (f"{name}.dist-info/extra_metadata/", config.extra_metadata, "extra_metadata"),
    )
    for folder, configured, key in tables:
        added = normalize_inclusion_map(build_data.get(key, {}), builder.root)
        yield from _explicit(builder, {**configured, **added}, folder)
    sboms: list[str] = [*getattr(config, "sbom_files", ()), *build_data.get("sbom_files", ())]
    boms = {str(root / path): Path(path).name for path in sboms}
    yield from _explicit(builder, boms, f"{name}.dist-info/sboms/")
    core: CoreMetadata = builder.metadata.core
    for path in core.license_files:
        source = os.path.normpath(root / path)
        target = plain(f"{name}.dist-info/licenses/{path}")
        yield Candidate(source=source, target=target, declared=True)


def _explicit(builder: Builder, files: dict[str, str], folder: str) -> Iterable[Candidate]:
    return (_candidate(file, folder) for file in builder.recurse_explicit_files(files))
