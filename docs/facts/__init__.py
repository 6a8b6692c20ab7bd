"""What the documentation says about the code, rendered from the code's own objects.

One module a kind of fact; each function gives the Markdown of one region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from facts import decisions, limits

if TYPE_CHECKING:
    from collections.abc import Callable

RENDERERS: dict[str, Callable[[], str]] = {
    "decisions": decisions.index,
    "limits": limits.render,
}
"""Region name to its renderer."""
