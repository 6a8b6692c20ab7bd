"""Decision: member names that every system reads as the same file, and where installers put them.

If one tool writes a member below its folder and another tool elsewhere, or if two members are one
file on some system, then reviewers and users see different contents. The same holds below
`<name>-<version>.data`: a member there can replace another member on installation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from skills_bundle.archives import limits
from skills_bundle.errors import Problem
from skills_bundle.files.paths import collisions, is_control
from skills_bundle.formats import limits as format_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skills_bundle.archives.model import Findings

DATA_SUFFIX: Final = ".data"
METADATA_SUFFIXES: Final = (".dist-info", ".egg-info")
"""Python finds distributions by these suffixes, in any case of letters."""
SCHEMES: Final = frozenset({"data", "headers", "platlib", "purelib", "scripts"})
"""Folders that a `.data` folder may hold (PyPA, Binary distribution format)."""
INSTALLER_FILES: Final = frozenset(
    {"INSTALLER", "REQUESTED", "direct_url.json", "provenance_url.json", "uv_cache.json"}
)
"""Files that installers write into a `.dist-info` and trust later."""

_DRIVE: Final = re.compile("[A-Za-z]:")
_VERSION: Final = re.compile(";[0-9]*$")
"""A VMS file version, which Info-ZIP's unzip cuts off on every system."""
_SIZE_LIMITS: Final = {
    "METADATA": format_limits.METADATA_MAX_BYTES,
    "PKG-INFO": format_limits.METADATA_MAX_BYTES,
    "RECORD": format_limits.RECORD_MAX_BYTES,
    "WHEEL": format_limits.METADATA_MAX_BYTES,
    "entry_points.txt": format_limits.METADATA_MAX_BYTES,
}
"""Metadata files that are parsed line by line."""
_SITE: Final = frozenset({"site-packages", "dist-packages"})
_BIN: Final = frozenset({"bin", "scripts"})


def check_names(names: Sequence[str], findings: Findings) -> None:
    """Report every unsafe name, and every two names that are the same path on some system.

    Args:
        names: As the archive spells them; names of folders end in a slash.
        findings: Receives the problems.
    """
    safe: list[str] = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            findings.add("duplicate_member", "is listed more than once", name)
            continue
        seen.add(name)
        problems = [*name_problems(name)]
        for code, message in problems:
            findings.add(code, message, name)
        if not problems:
            # "." marks a folder listed by itself; safe names have no such component.
            safe.append(f"{name}." if name.endswith("/") else name)
    for one, other in collisions(safe):
        if not one.endswith("/."):
            findings.add("path_collision", _collision(one, other.removesuffix(".")), one)


def _collision(one: str, other: str) -> str:
    if other.startswith(f"{one}/"):
        return f"is a file, but also the folder of {other!r}"
    return f"is the same path as {other!r} on some systems"


def check_size(path: str, size: int, findings: Findings) -> None:
    """Report a metadata file that is too large to parse, before it is parsed.

    Args:
        path: Path of a member.
        size: Its size in bytes, unpacked.
        findings: Receives the problem.
    """
    folder, _, name = path.rpartition("/")
    most = _SIZE_LIMITS.get(name) if folder.endswith(".dist-info") or name == "PKG-INFO" else None
    if most is not None and size > most:
        findings.add("control_too_large", f"has {size} bytes; the limit is {most}", path)


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """Yield every problem of a name, as (code, message without the name)."""
    path = name.removesuffix("/")
    if len(name.encode("utf-8", "surrogatepass")) > limits.ARCHIVE_NAME_MAX_BYTES:
        yield "path_too_long", f"has more than {limits.ARCHIVE_NAME_MAX_BYTES} bytes"
    if path.count("/") >= limits.ARCHIVE_NAME_MAX_COMPONENTS:
        yield "path_too_deep", f"has more than {limits.ARCHIVE_NAME_MAX_COMPONENTS} components"
    yield from _component_problems(name, path)
    yield from _character_problems(path)


def _component_problems(name: str, path: str) -> Iterator[tuple[str, str]]:
    components = path.split("/")
    if name.startswith("/"):
        yield "path_absolute", "is absolute"
    elif _DRIVE.match(name):
        yield "path_absolute", "starts with a drive letter"
    elif "" in components:
        yield "path_empty_component", "has an empty component"
    for dots in {".", ".."}.intersection(components):
        yield "path_dot_component", f"has the component {dots!r}"
    if any(part and part not in {".", ".."} and part[-1] in ". " for part in components):
        yield "path_trailing_dot_or_space", "has a component that ends in a dot or a space"


def _character_problems(path: str) -> Iterator[tuple[str, str]]:
    if "\\" in path:
        yield "path_backslash", "has a backslash, which some systems read as a slash"
    if ":" in path and not _DRIVE.match(path):
        yield "path_colon", "has a colon, which names an alternate data stream on Windows"
    if _VERSION.search(path):
        yield "path_version", "ends in a file version, which some tools cut off"
    if path.isascii() and path.isprintable():
        return  # the remaining checks go character by character
    if any("\ud800" <= character <= "\udfff" for character in path):
        yield "path_not_utf8", "is not UTF-8"
    if any(map(is_control, path)):
        yield "path_control_character", "has a control character"


def install_problems(
    paths: Iterable[str], dist_info: str, commands: Iterable[str] = ()
) -> Iterator[Problem]:
    """Yield every member of a wheel that installers would not install as the wheel shows it.

    Args:
        paths: Of the wheel's members.
        dist_info: Its one `.dist-info` folder.
        commands: Names of its console and GUI scripts, which installers write.
    """
    paths, commands = list(paths), list(commands)
    data = dist_info.removesuffix(METADATA_SUFFIXES[0]) + DATA_SUFFIX
    for path in paths:
        if message := _data_problem(path, data):
            yield Problem(code="data_folder", message=message, path=path)
    yield from _command_problems(commands)
    targets = [(target, path) for path in paths for target in _targets(path, data)]
    yield from _metadata_problems(targets, dist_info)
    scripts = [(f"scripts/{name}{end}", name) for name in commands for end in ("", ".exe")]
    yield from _overwrite_problems([*targets, *scripts])


def _data_problem(path: str, data: str) -> str | None:
    """Return what is wrong with a member of a `.data` folder."""
    top, _, rest = path.partition("/")
    if not top.lower().endswith(DATA_SUFFIX) or not rest:
        return None
    scheme, _, below = rest.partition("/")
    if top != data:
        return f"is outside {data!r}: only some installers spread this folder"
    return None if below and scheme in SCHEMES else "is in a folder that installers do not know"


def _targets(path: str, data: str) -> list[str]:
    """Return where a member can be installed; installation layouts differ, so it can be several."""
    top, _, rest = path.partition("/")
    scheme, _, below = rest.partition("/")
    if top != data or scheme not in SCHEMES:
        return [f"site/{path}"]
    if scheme != "data":
        return [f"{'site' if scheme.endswith('lib') else scheme}/{below}"]
    parts = below.split("/")
    folders = [part.lower() for part in parts[:-1]]
    # `pip install --target` puts data files and code into one folder.
    targets = [f"data/{below}", f"site/{below}"]
    if folders and folders[0] in _BIN:
        targets.append(f"scripts/{'/'.join(parts[1:])}")
    site = next((index for index, folder in enumerate(folders) if folder in _SITE), None)
    return targets if site is None else [*targets, f"site/{'/'.join(parts[site + 1 :])}"]


def _command_problems(commands: Iterable[str]) -> Iterator[Problem]:
    """Yield commands that would be written outside the scripts folder, or twice."""
    seen: set[str] = set()
    for name in commands:
        if {"/", "\\", ":"} & {*name} or name in {".", ".."}:
            message = "is a command name that leads outside the scripts folder"
            yield Problem(code="install_place", message=message, path=name)
        elif name in seen:
            message = "is declared as a command twice: one overwrites the other"
            yield Problem(code="install_place", message=message, path=name)
        seen.add(name)


def _metadata_problems(targets: Iterable[tuple[str, str]], dist_info: str) -> Iterator[Problem]:
    """Yield metadata of a second distribution, and files that only installers may write."""
    seen: set[str] = set()
    for target, path in targets:
        top, _, rest = target.removeprefix("site/").partition("/")
        if not target.startswith("site/") or path in seen:
            continue
        if top == dist_info and rest in INSTALLER_FILES:
            seen.add(path)
            message = "is a file that installers write and trust later"
            yield Problem(code="installers_file", message=message, path=path)
        elif top != dist_info and top.lower().endswith(METADATA_SUFFIXES):
            seen.add(path)
            message = "would be installed as metadata of a second distribution"
            yield Problem(code="dist_info", message=message, path=path)


def _overwrite_problems(targets: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Yield every member that would overwrite another on installation, on some system at least."""
    first: dict[str, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for target, path in targets:
        if first.setdefault(target, path) != path:
            pairs[path, first[target]] = None
    for one, other in collisions(first)[: limits.ARCHIVE_MAX_PROBLEMS]:
        # A collision can name a folder; report it for the first member inside.
        members = [first.get(target) or _member_below(target, first) for target in (one, other)]
        pairs[members[0], members[1]] = None
    for one, other in pairs:
        if one != other:
            message = f"is installed to the path of {other!r}: one overwrites the other"
            yield Problem(code="install_place", message=message, path=one)


def _member_below(folder: str, targets: dict[str, str]) -> str:
    return next(path for target, path in targets.items() if target.startswith(f"{folder}/"))
