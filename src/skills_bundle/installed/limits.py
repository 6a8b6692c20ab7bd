"""Record: limits of installed collections, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import MIB

# --- Installation ---------------------------------------------------------------------------------
COLLECTIONS_MAX: Final = 64
"""Collections served together: a search carries the provenance of each, about 700 bytes."""
FOLDERS_SHOWN: Final = 5
"""Metadata folders that an error names; the others are counted."""
RACY_NANOSECONDS: Final = 2_000_000_000
"""A file written less than this before it was read may change again without its times changing;
it is read again next time. Two seconds is FAT's clock, the coarsest in use."""
SERVED_CODE_FILE_MAX_BYTES: Final = 16 * MIB
"""Bytes of a code file that a server compares with RECORD when it starts; of larger files it
compares the size."""
