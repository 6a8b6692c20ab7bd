"""Decision: names that a finished archive may hold: what we build, we accept.

hatchling takes over what its tables say: `.` as the folder of scripts, `../run.sh` as a place. What
the commands that verify would refuse later is not built at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.archives.model import Findings
from skills_bundle.archives.names import check_names, install_problems
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.files.names import shown
from skills_bundle.formats import entry_points

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skills_bundle.archives.model import Member

COMMANDS = ("console_scripts", "gui_scripts")


def plain(name: str) -> str:
    """Give a member's name without the components that mean nothing: `a/./b//c` is `a/b/c`.

    Args:
        name: As hatchling spells it. What leads elsewhere stays as it is, to be refused.
    """
    if name.startswith("/"):
        return name
    return "/".join(part for part in name.split("/") if part not in {"", "."})


def demand_utf8(paths: Iterable[str]) -> None:
    """Insist on names that an archive can hold.

    Args:
        paths: Of files that would ship.

    Raises:
        SettingsError: With every path that is not UTF-8.
    """
    wrong = [path for path in paths if not path.isascii() and shown(path) != path]
    message = "has a name that is not UTF-8; rename it, or exclude it in tool.hatch.build"
    problems = tuple(
        Problem(code="name_not_utf8", message=message, path=shown(path)) for path in sorted(wrong)
    )
    if problems:
        raise SettingsError("Files have names that no archive can hold.", problems)


def demand_plain(paths: Iterable[str], top: str = "") -> None:
    """Insist on names under which every system unpacks the same files.

    Args:
        paths: Of the members of a finished archive.
        top: An sdist's top folder.

    Raises:
        SettingsError: With every name that the strict reading of archives would refuse.
    """
    findings = Findings("the archive")
    check_names([f"{top}/{path}" if top else path for path in paths], findings)
    _demand(findings.problems)


def demand_places(members: Mapping[str, Member], dist_info: str) -> None:
    """Insist on a wheel of which every installer makes the same installation.

    Args:
        members: Of the finished wheel.
        dist_info: Its `.dist-info` folder.

    Raises:
        SettingsError: With every member that would replace another, or that installers dispute.
    """
    member = members.get(f"{dist_info}/entry_points.txt")
    groups = None if member is None else entry_points.parse(member.data)
    commands = [name for group in COMMANDS for name in (groups or {}).get(group, {})]
    _demand(tuple(install_problems(members, dist_info, commands)))


def _demand(problems: tuple[Problem, ...]) -> None:
    if problems:
        summary = "Not every tool would take the archive for the same; rename or exclude files."
        raise SettingsError(summary, problems)
