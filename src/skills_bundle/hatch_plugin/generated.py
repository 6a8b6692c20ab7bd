"""Edge: what hatchling writes besides the project's files, made once more from a fresh reading.

Core metadata, `WHEEL`, `entry_points.txt` and an old `setup.py` come from no file that could be
compared with the commit. So they are made again, from configuration read anew and with nothing that
another hook left behind; what differs was made otherwise, and no commit speaks for it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from hatchling.__about__ import __version__
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.tags import parse_tag

from skills_bundle.git.repository import SDIST_MARK
from skills_bundle.hatch_plugin.selection import LEGACY, respell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hatchling.builders.sdist import SdistBuilderConfig
    from hatchling.builders.wheel import WheelBuilderConfig

    from skills_bundle.hatch_plugin.selection import Builder

METADATA: Final = "METADATA"
WHEEL: Final = "WHEEL"
ENTRY_POINTS: Final = "entry_points.txt"
RECORD: Final = "RECORD"


def of_wheel(root: str) -> dict[str, bytes]:
    """Give the files of `.dist-info` that hatchling makes, RECORD aside, by name.

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
    """Give the core metadata of a wheel of this project; an sdist's may be of another version.

    Args:
        root: The project's folder.
    """
    return _core_metadata(WheelBuilder(root))


def _core_metadata(builder: Builder) -> bytes:
    builder.metadata.validate_fields()  # as a build begins; else a given version is still dynamic
    config = cast("WheelBuilderConfig | SdistBuilderConfig", builder.config)
    return config.core_metadata_constructor(builder.metadata, extra_dependencies=()).encode()


def _archive_metadata(data: Mapping[str, Any], tag: str) -> bytes:
    """Give `WHEEL` as the hatchling at hand writes it."""
    purelib = "true" if data["pure_python"] else "false"
    head = f"Wheel-Version: 1.0\nGenerator: hatchling {__version__}\nRoot-Is-Purelib: {purelib}\n"
    return (head + "".join(f"Tag: {row}\n" for row in sorted(map(str, parse_tag(tag))))).encode()


def of_sdist(root: str) -> dict[str, bytes]:
    """Give the files at an sdist's root that hatchling makes, by name.

    Args:
        root: The project's folder.
    """
    builder = SdistBuilder(root)
    made = {SDIST_MARK: _core_metadata(builder)}
    if builder.target_config.get("support-legacy"):
        made[LEGACY] = _setup_script(builder, builder)
    return made


def _setup_script(writer: SdistBuilder, builder: Builder) -> bytes:
    """Give an old `setup.py`; one builder, once by its own type and once by all builders'."""
    data = builder.get_default_build_data()
    builder.set_build_data_defaults(data)
    respell(builder)
    with builder.config.set_build_data(data):
        found = [PurePath(file.relative_path) for file in builder.recurse_included_files()]
    packages = {str(path.parent) for path in found if path.name == "__init__.py"}
    return writer.construct_setup_py_file(sorted(packages), extra_dependencies=()).encode()
