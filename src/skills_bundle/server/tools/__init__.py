"""Decision: the tool groups by name, and what they work with.

Groups know the catalog; nothing of the SDK, stdio or each other; they do no I/O. This module is
imported before standard output is claimed, so it imports a group only when its tools are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.errors import SkillsBundleError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from skills_bundle.catalog.service import Catalog
    from skills_bundle.server.tools.base import Tool, Toolbox

TOOLSETS: Final = {"catalog": "skills_bundle.server.tools.catalog"}
"""The tool groups in the order in which their tools are listed, each with the module whose
`tools(context)` returns its tools. `all` means each of them."""

DEFAULT_TOOLSETS: Final = ("catalog",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Everything that tool groups work with. A group that needs more adds an optional attribute.

    Attributes:
        catalog: Answers about skills.
    """

    catalog: Catalog


class UnknownToolsetError(SkillsBundleError):
    """A tool group that does not exist."""

    exit_code = 2


def parse_toolsets(text: str) -> tuple[str, ...]:
    """Parse `NAME[,NAME...]` or `all`; order and repetition do not matter.

    Raises:
        UnknownToolsetError: Naming every unknown name and all known ones.
    """
    names = {name.strip() for name in text.split(",")} - {""}
    unknown = sorted(names - {*TOOLSETS, "all"})
    if unknown or not names:
        given = ", ".join(unknown) or "an empty list"
        raise UnknownToolsetError(f"Unknown toolset: {given}. Known: {', '.join(TOOLSETS)}, all.")
    return tuple(name for name in TOOLSETS if name in names or "all" in names)


def toolbox(names: Collection[str], context: ToolContext) -> Toolbox:
    """Return the tools of these groups, in the order of `TOOLSETS`."""
    from skills_bundle.server.tools.base import Toolbox  # noqa: PLC0415 - see the module's docstring

    modules = [import_module(module) for name, module in TOOLSETS.items() if name in names]
    groups = [cast("Iterable[Tool[Any]]", module.tools(context)) for module in modules]
    return Toolbox(tool for group in groups for tool in group)
