"""Decision: what somebody who starts a server is told of what it will serve.

Of one collection nothing, unless all or some of it cannot be served: a host's log is no place for
good news. Of
several, what each of them is, since nobody named them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.catalog import Catalogs
from skills_bundle.errors import SkillsBundleError, ToolError

if TYPE_CHECKING:
    from skills_bundle.catalog import Catalog, Source


def told(source: Source) -> list[str]:
    """Look at everything that will be served and give the lines to print.

    Args:
        source: What is served.
    """
    if isinstance(source, Catalogs):
        return [_of_several(name, catalog) for name, catalog in source.catalogs.items()]
    problem = source.problem()
    if problem is None:
        view = source.shelf.view()
        return [_of_several(view.provenance.collection, source)] if view.altered else []
    return [f"nothing to serve, and every call will say so: {problem.summary}"]


def _of_several(name: str, catalog: Catalog) -> str:
    try:
        view = catalog.shelf.view()
    except ToolError as error:
        cause = error.__cause__ if isinstance(error.__cause__, SkillsBundleError) else error
        told = f"collection {name} cannot be served, and answers will say so: {cause.summary}"
        return _plain(told)
    block, number = view.provenance, len(view.lock.skills)
    gaps = f" ({', '.join(block.gaps)})" if block.gaps else ""
    return _plain(
        f"collection {name}: {block.package_name} {block.package_version}, "
        f"{number} skill{'' if number == 1 else 's'}, "
        f"integrity {block.source_provenance.integrity}{gaps}"
    )


def _plain(text: str) -> str:
    """Escape what could end the line or drive a terminal: names are other people's."""
    return text if text.isprintable() else ascii(text)[1:-1]
