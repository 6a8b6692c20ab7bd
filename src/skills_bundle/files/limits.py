"""Record: limits of paths and folders, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import MIB

# --- Paths ----------------------------------------------------------------------------------------
PATH_MAX_CHARACTERS: Final = 1024
"""UTF-16 units of a locked path, relative to its skills folder."""
PATH_MAX_COMPONENTS: Final = 24
"""Components of a locked path."""
PATH_COMPONENT_MAX_BYTES: Final = 255
"""UTF-8 bytes of one component of a path: what common file systems hold."""

# --- Folders --------------------------------------------------------------------------------------
SCAN_MAX_ENTRIES: Final = 200_000
"""Directory entries one scan reads, so that a scan of `/` ends."""
SCAN_MAX_DEPTH: Final = 64
"""Levels of folders below the folder that is read."""
FOLDER_MAX_FILES: Final = 50_000
"""Files of a folder or an installation that a comparison reads."""
FOLDER_MAX_BYTES: Final = 512 * MIB
"""Bytes of those files together."""
RECORDED_FILE_MAX_BYTES: Final = 256 * MIB
"""Bytes of a file that only RECORD lists; of larger files only the size is compared."""
EXPORT_ENTRIES_SHOWN: Final = 10
"""Entries of a non-empty target folder that `export` names; the rest are counted."""
