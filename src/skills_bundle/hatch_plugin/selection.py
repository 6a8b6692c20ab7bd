"""Edge: what hatchling puts into an archive: which files it selects, and what it writes itself.

Core metadata, `WHEEL`, `entry_points.txt` and an old `setup.py` come from no file that could be
compared with the commit. So they are made again here, from configuration read anew and without
anything that another hook left behind; a member that differs was made some other way.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from hatchling.__about__ import __version__
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.utils import normalize_inclusion_map
from hatchling.builders.wheel import WheelBuilder
from packaging.tags import parse_tag

from skills_bundle.files.paths import from_disk
from skills_bundle.git.repository import SDIST_MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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
METADATA: Final = "METADATA"
WHEEL: Final = "WHEEL"
ENTRY_POINTS: Final = "entry_points.txt"
RECORD: Final = "RECORD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One file that hatchling selected.

    Attributes:
        source: Absolute path on disk, as Python spells it here.
        target: Path in the archive, as git spells it; in an sdist below its top folder.
        declared: Whether this very file was asked for: `artifacts`, `force-include`, a hook.
        is_ignore_file: Whether it is an ignore file, which hatchling adds wherever it finds one.
        is_script: Whether hatchling may have changed the first line.
    """

    source: str
    target: str
    declared: bool = False
    is_ignore_file: bool = False
    is_script: bool = False


def plain(name: str) -> str:
    """Return a member's name without components that mean nothing: `a/./b//c` is `a/b/c`.

    Args:
        name: As hatchling spells it. What leads elsewhere is left unchanged, to be refused.
    """
    if name.startswith("/"):
        return name
    return "/".join(part for part in name.split("/") if part not in {"", "."})


def of_build(builder: Builder, build_data: dict[str, Any]) -> dict[str, Candidate]:
    """Return what a running build selected, by path in the archive.

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
    """Return what an sdist of the project would hold if no hook added to it.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
    """
    return _untouched(SdistBuilder(root, metadata=metadata))


def of_wheel(root: str, metadata: Metadata) -> dict[str, Candidate]:
    """Return what a wheel of the project would hold if no hook added to it; likewise."""
    return _untouched(WheelBuilder(root, metadata=metadata))


def _builders(root: str, metadata: Metadata) -> tuple[Builder, ...]:
    return (SdistBuilder(root, metadata=metadata), WheelBuilder(root, metadata=metadata))


def outputs(root: str, metadata: Metadata) -> set[str]:
    """Return the folders that the configuration has builds write archives to.

    Args:
        root: The project's folder.
        metadata: hatchling's view of its pyproject.toml.
    """
    return {builder.config.directory for builder in _builders(root, metadata)}


def forced(root: str, metadata: Metadata) -> set[str]:
    """Return the absolute paths that the configuration names in `force-include`; likewise."""
    return {path for builder in _builders(root, metadata) for path in builder.config.force_include}


def respell(builder: Builder) -> None:
    """Make a builder name files as git does, regardless of the locale's encoding.

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
    ignore_files = {path for rows in builder.config.vcs_exclusion_files.values() for path in rows}
    for file in builder.recurse_forced_files(builder.config.get_force_include()):
        yield _candidate(file, "", declared=True, is_ignore_file=file.path in ignore_files)


def _candidate(
    file: IncludedFile, folder: str, *, declared: bool = True, is_ignore_file: bool = False
) -> Candidate:
    return Candidate(
        source=file.path,
        target=plain(folder + file.distribution_path.replace(os.sep, "/")),
        declared=declared,
        is_ignore_file=is_ignore_file,
        is_script=folder.endswith(SCRIPTS),
    )


def _wheel_extras(builder: Builder, build_data: dict[str, Any]) -> Iterator[Candidate]:
    """Iterate over files that a wheel's tables place outside the packages."""
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


def generated_for_wheel(root: str) -> dict[str, bytes]:
    """Return the files of `.dist-info` that hatchling makes, without RECORD, by name.

    Args:
        root: The project's folder.
    """
    builder = WheelBuilder(root)
    data = builder.get_default_build_data()
    made = {
        METADATA: wheel_metadata(root),
        WHEEL: _archive_metadata(data, builder.get_default_tag()),
        ENTRY_POINTS: builder.construct_entry_points_file().encode(),
    }
    return {name: text for name, text in made.items() if text}


def wheel_metadata(root: str) -> bytes:
    """Return the core metadata of a wheel of this project; an sdist's may be of another version.

    Args:
        root: The project's folder.
    """
    return _core_metadata(WheelBuilder(root))


def _core_metadata(builder: Builder) -> bytes:
    builder.metadata.validate_fields()  # as a build begins; else a given version is still dynamic
    config = cast("WheelBuilderConfig | SdistBuilderConfig", builder.config)
    return config.core_metadata_constructor(builder.metadata, extra_dependencies=()).encode()


def _archive_metadata(data: Mapping[str, Any], tag: str) -> bytes:
    """Return `WHEEL` as this version of hatchling writes it."""
    purelib = "true" if data["pure_python"] else "false"
    head = f"Wheel-Version: 1.0\nGenerator: hatchling {__version__}\nRoot-Is-Purelib: {purelib}\n"
    return (head + "".join(f"Tag: {row}\n" for row in sorted(map(str, parse_tag(tag))))).encode()


def generated_for_sdist(root: str) -> dict[str, bytes]:
    """Return the files at an sdist's root that hatchling makes, by name.

    Args:
        root: The project's folder.
    """
    builder = SdistBuilder(root)
    made = {SDIST_MARK: _core_metadata(builder)}
    if builder.target_config.get("support-legacy"):
        made[LEGACY] = _setup_script(builder, builder)
    return made


def _setup_script(writer: SdistBuilder, builder: Builder) -> bytes:
    """Return an old `setup.py`; one builder, as its own type and as that of all builders."""
    data = builder.get_default_build_data()
    builder.set_build_data_defaults(data)
    respell(builder)
    with builder.config.set_build_data(data):
        found = [PurePath(file.relative_path) for file in builder.recurse_included_files()]
    packages = {str(path.parent) for path in found if path.name == "__init__.py"}
    return writer.construct_setup_py_file(sorted(packages), extra_dependencies=()).encode()
