"""What one may ask of a bundle: search, read, overview. The same answers for tools and commands.

Records and decisions only: the disk is behind `bundle.view.Bundle`, which is handed in. May import
`bundle`, `skills`, `formats` and `errors`; records nothing and knows no transport.
"""

from typing import TypeAlias

from skills_bundle.catalog.service import Catalog
from skills_bundle.catalog.several import Catalogs

__all__ = ["Catalog", "Catalogs", "Source"]

Source: TypeAlias = Catalog | Catalogs
"""What a server or a command answers from: one collection, or several."""
