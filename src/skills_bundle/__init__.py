"""Ship agent skills as pinned, reproducible, checkable Python wheels that serve themselves.

The map, from what everything may use up to what uses everything:

```text
errors             what can go wrong
formats/           strict JSON in, one rendering out, digests
skills/            what a skill is: frontmatter, rules, paths, the scan
bundle/            lock, build receipt, verification, provenance; the edges to git and the disk
archives/          wheels and sdists, read strictly
catalog/           what one may ask: search, read, overview
supply_chain/      what one may ask of a distribution: verify, compare, rebuild, attest
scaffold/          a project that ships its skills, made or mended
server/            how an MCP host talks to us: strict stdio, session, tools
hatch_plugin/      the build hook; the only importer of hatchling
wiring             settings to objects, joined
api                what programs may use: the names below
cli/               one module a command group
```

Bytes become checked records, pure code decides, thin edges act. The first word of a module's
docstring says which of the three it is.

Programs use the names in `__all__` and nothing else; each is imported when it is first asked for,
so that `import skills_bundle` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from skills_bundle._version import __version__

if TYPE_CHECKING:
    from skills_bundle.api import (
        Collection,
        Skill,
        UnknownFileError,
        collection,
        collections,
    )
    from skills_bundle.bundle.lock import LockedFile
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.verification import Verification
    from skills_bundle.cli.console_script import command_line
    from skills_bundle.errors import (
        BundleUnavailableError,
        Problem,
        SkillsBundleError,
        UnknownSkillError,
        UnsafeFileError,
    )
    from skills_bundle.installed.collections import (
        AmbiguousCollectionError,
        Declared,
        UnknownCollectionError,
    )

__all__ = [
    "AmbiguousCollectionError",
    "BundleUnavailableError",
    "Collection",
    "Declared",
    "LockedFile",
    "Problem",
    "Provenance",
    "Skill",
    "SkillsBundleError",
    "UnknownCollectionError",
    "UnknownFileError",
    "UnknownSkillError",
    "UnsafeFileError",
    "Verification",
    "__version__",
    "collection",
    "collections",
    "command_line",
]

_HOMES: Final = {
    "skills_bundle.api": (
        "Collection",
        "Skill",
        "UnknownFileError",
        "collection",
        "collections",
    ),
    "skills_bundle.installed.collections": (
        "AmbiguousCollectionError",
        "Declared",
        "UnknownCollectionError",
    ),
    "skills_bundle.bundle.lock": ("LockedFile",),
    "skills_bundle.bundle.provenance": ("Provenance",),
    "skills_bundle.bundle.verification": ("Verification",),
    "skills_bundle.cli.console_script": ("command_line",),
    "skills_bundle.errors": (
        "BundleUnavailableError",
        "Problem",
        "SkillsBundleError",
        "UnknownSkillError",
        "UnsafeFileError",
    ),
}
"""Where each public name is made."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the types stand above, for type checkers
    """Import a public name when it is first asked for."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """Name what is public, also what was not asked for yet."""
    return sorted({*globals(), *__all__})
