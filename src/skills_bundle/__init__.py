"""Ship agent skills as pinned, reproducible, checkable Python wheels that serve themselves.

The map, from the bottom layer to the top; docs/explanation/architecture.md has a line per module:

```text
errors             what can go wrong
formats/           strict JSON, TOML, digests, package metadata
files/             one tree of files and its comparison; safe reading and writing
git/               repositories, read-only; the proof from a commit to bytes
skills/            what a skill is: frontmatter, rules, the scan
archives/          wheels and sdists, read strictly
bundle/            lock, build receipt, provenance, verification
project/           a project that ships skills: settings, its lock, `init`
installed/         what is installed: distributions, collections, bundles
catalog/           search, read, overview, over one or more collections
supply_chain/      verify, compare, rebuild, export and attest a distribution
server/            the MCP server: stdio, HTTP, tools, resources
hatch_plugin/      the build hook; the only importer of hatchling
wiring             chooses implementations and joins them
api                what programs may use: the names below
cli/               the command line, one module per command or family
```

Bytes become checked records, pure functions decide, thin edges act. The first word of a module's
docstring says which of the three it is.

Programs use the names in `__all__` and nothing else; each is imported on first use, so that
`import skills_bundle` is fast.
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
        UnreadableCollectionError,
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
    "UnreadableCollectionError",
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
        "UnreadableCollectionError",
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
"""The module of each public name."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the types stand above, for type checkers
    """Import a public name on first use."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """Return all public names, imported or not."""
    return sorted({*globals(), *__all__})
