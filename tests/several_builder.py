"""Several installed collections on disk, and what is asked of them together.

```python
made = install_several(folder)            # acme-skills and other-skills
made.catalog().search("beta").skills     # one row of each
made["other-skills"].lock.unlink()        # and then only of one
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.catalog.service import Catalog
from tests.installed_builder import SAMPLE, Files, Installation, InstalledBuilder

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from skills_bundle.catalog.reading import Resources

ACME, OTHER = "acme-skills", "other-skills"

OTHER_SKILLS: dict[str, Files] = {
    "beta": {"SKILL.md": b"---\nname: beta\ndescription: Other letters.\n---\n\n# Other beta\n"},
    "gamma": {"SKILL.md": b"---\nname: gamma\ndescription: Third letters.\n---\n\n# Gamma\n"},
}
"""Two skills; one has the name, but not the path, of one in `SAMPLE`."""

SKILLS = {ACME: SAMPLE, OTHER: OTHER_SKILLS}


class Several(dict[str, Installation]):
    """Installations by the name of their collection."""

    def catalog(self, resources: Resources = "all", ambiguous: Collection[str] = ()) -> Catalog:
        """Ask about them as a server would."""
        bundles = {name: place.open() for name, place in sorted(self.items())}
        return Catalog(bundles, resources=resources, ambiguous=ambiguous)


def install_several(folder: Path, skills: dict[str, dict[str, Files]] | None = None) -> Several:
    """Install collections, each into a site of its own.

    Args:
        folder: An empty folder.
        skills: Name of each collection to its skills; by default `SKILLS`.
    """
    return Several(
        {
            name: InstalledBuilder(
                skills=dict(own), name=f"dist-{number}", collection=name
            ).install(folder / str(number))
            for number, (name, own) in enumerate((skills or SKILLS).items())
        }
    )
