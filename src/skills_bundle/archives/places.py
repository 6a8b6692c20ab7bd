"""Decision: where installers put what a wheel holds, and what would arrive there as another thing.

Below `<name>-<version>.data` a member goes to where the scheme says that the next folder names; it
may be the place of another member, which one of both then replaces. So a wheel can hold every byte
that was reviewed and install another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.errors import Problem
from skills_bundle.files.path_sets import collisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA_SUFFIX: Final = ".data"
METADATA_SUFFIXES: Final = (".dist-info", ".egg-info")
"""By which Python finds distributions, in any case of letters."""
SCHEMES: Final = frozenset({"data", "headers", "platlib", "purelib", "scripts"})
"""Folders that a `.data` folder may hold (PyPA, Binary distribution format)."""
INSTALLERS_FILES: Final = frozenset(
    {"INSTALLER", "REQUESTED", "direct_url.json", "provenance_url.json", "uv_cache.json"}
)
"""What installers write into a `.dist-info` and believe later; RECORD is made by both."""
_SITE: Final = frozenset({"site-packages", "dist-packages"})
_BIN: Final = frozenset({"bin", "scripts"})


def problems(
    paths: Iterable[str], dist_info: str, commands: Iterable[str] = ()
) -> Iterator[Problem]:
    """Give everything that would not arrive as the wheel shows it.

    Args:
        paths: Of the wheel's members.
        dist_info: Its one `.dist-info` folder.
        commands: Names of its console scripts and of its GUI scripts, which installers write.
    """
    paths = list(paths)
    data = dist_info.removesuffix(METADATA_SUFFIXES[0]) + DATA_SUFFIX
    for path in paths:
        if message := _data_problem(path, data):
            yield Problem(code="data_folder", message=message, path=path)
    commands = list(commands)
    yield from _command_problems(commands)
    placed = [(place, path) for path in paths for place in _places(path, data)]
    yield from _metadata_problems(placed, dist_info)
    named = [(f"scripts/{name}{end}", name) for name in commands for end in ("", ".exe")]
    yield from _place_problems([*placed, *named])


def _data_problem(path: str, data: str) -> str | None:
    """Say what is wrong with a member of a `.data` folder."""
    top, _, rest = path.partition("/")
    if not top.lower().endswith(DATA_SUFFIX) or not rest:
        return None
    scheme, _, below = rest.partition("/")
    if top != data:
        return f"is not in {data!r}: some installers spread this folder, and some do not"
    return None if below and scheme in SCHEMES else "is in no folder that installers know"


def _places(path: str, data: str) -> list[str]:
    """Give where a member can arrive; with several layouts of folders there can be several."""
    top, _, rest = path.partition("/")
    scheme, _, below = rest.partition("/")
    if top != data or scheme not in SCHEMES:
        return [f"site/{path}"]
    if scheme != "data":
        return [f"{'site' if scheme.endswith('lib') else scheme}/{below}"]
    parts = below.split("/")
    folders = [part.lower() for part in parts[:-1]]
    # `pip install --target` puts both into one folder.
    found = [f"data/{below}", f"site/{below}"]
    found += [f"scripts/{'/'.join(parts[1:])}"] if folders[:1] and folders[0] in _BIN else []
    site = next((number for number, folder in enumerate(folders) if folder in _SITE), None)
    return found if site is None else [*found, f"site/{'/'.join(parts[site + 1 :])}"]


def _command_problems(commands: Iterable[str]) -> Iterator[Problem]:
    """Find commands that would be written elsewhere than where commands go, or twice."""
    seen: set[str] = set()
    for name in commands:
        if {"/", "\\", ":"} & {*name} or name in {".", ".."}:
            message = "is the name of a command, and leads elsewhere"
            yield Problem(code="install_place", message=message, path=name)
        elif name in seen:
            message = "is the name of two commands: one replaces the other"
            yield Problem(code="install_place", message=message, path=name)
        seen.add(name)


def _metadata_problems(placed: Iterable[tuple[str, str]], dist_info: str) -> Iterator[Problem]:
    """Find the metadata of a second distribution, and what installers say of the first."""
    seen: set[str] = set()
    for place, path in placed:
        top, _, rest = place.removeprefix("site/").partition("/")
        if not place.startswith("site/") or path in seen:
            continue
        if top == dist_info and rest in INSTALLERS_FILES:
            seen.add(path)
            message = "is a file that installers write, and believe later"
            yield Problem(code="installers_file", message=message, path=path)
        elif top != dist_info and top.lower().endswith(METADATA_SUFFIXES):
            seen.add(path)
            message = "would be installed as metadata of a second distribution"
            yield Problem(code="dist_info", message=message, path=path)


def _place_problems(placed: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Find every two that arrive in one place, on some system at least."""
    first: dict[str, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for place, path in placed:
        if first.setdefault(place, path) != path:
            pairs[path, first[place]] = None
    for one, other in collisions(first)[: limits.ARCHIVE_MAX_PROBLEMS]:
        # A folder stands for any file in it: the collision is told of the file beside it.
        pair = tuple(first.get(place) or _under(place, first) for place in (one, other))
        pairs[pair[0], pair[1]] = None
    for one, other in pairs:
        if one != other:
            message = f"is installed to the place of {other!r}: one replaces the other"
            yield Problem(code="install_place", message=message, path=one)


def _under(folder: str, places: dict[str, str]) -> str:
    return next(path for place, path in places.items() if place.startswith(f"{folder}/"))
