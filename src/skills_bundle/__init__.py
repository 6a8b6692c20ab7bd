"""Ship agent skills as pinned, reproducible, checkable Python wheels that serve themselves.

The map, from what everything may use up to what uses everything:

```text
errors, limits     what can go wrong; every bound, named
formats/           strict JSON in, one rendering out, digests
skills/            what a skill is: frontmatter, rules, paths, the scan
bundle/            lock, build receipt, verification, provenance; the edges to git and the disk
archives/          wheels and sdists, read strictly
catalog/           what one may ask: search, read, overview
supply_chain/      what one may ask of a distribution: verify, compare, rebuild, attest
server/            how an MCP host talks to us: strict stdio, session, tools
hatch_plugin/      the build hook; the only importer of hatchling
wiring             settings to objects, joined
cli/               one module a command group
```

Bytes become checked records, pure code decides, thin edges act. The first word of a module's
docstring says which of the three it is.
"""

from skills_bundle._version import __version__

__all__ = ["__version__"]
