"""Decision: which tools the named groups hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from skills_bundle.server.tools import catalog as catalog_group
from skills_bundle.server.tools.base import Tool, Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from skills_bundle.catalog import Source

    Group = Callable[[Source], tuple[Tool[Any], ...]]

GROUPS: Final[dict[str, Group]] = {"catalog": catalog_group.tools}
"""The groups in the order in which their tools are listed; names as in `run.TOOLSETS`."""


def toolbox(names: Collection[str], catalog: Source) -> Toolbox:
    """Give the tools of these groups, in the order of `GROUPS` whatever the order of the names."""
    groups = [group for name, group in GROUPS.items() if name in names]
    return Toolbox(tool for group in groups for tool in group(catalog))
