"""Record: limits of wheels and sdists, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB, MIB

# --- Archives -------------------------------------------------------------------------------------
ARCHIVE_MAX_BYTES: Final = 256 * MIB
"""Bytes of a wheel or sdist that a command opens: it is held in memory."""
ARCHIVE_MAX_UNPACKED_BYTES: Final = 512 * MIB
"""Bytes of all members together, unpacked: likewise."""
ARCHIVE_MAX_MEMBERS: Final = 50_000
"""Files and folders in an archive."""
ARCHIVE_MAX_RATIO: Final = 200
"""Unpacked bytes per packed byte of the whole archive. Human text is near 4, and deflate can
reach 1000, so an archive beyond this is refused as a zip bomb."""
ARCHIVE_RATIO_FREE_BYTES: Final = 16 * MIB
"""Unpacked bytes that are always accepted, at any ratio."""
ARCHIVE_NAME_MAX_BYTES: Final = KIB
"""UTF-8 bytes of a member's path."""
ARCHIVE_NAME_MAX_COMPONENTS: Final = 64
"""Components of a member's path."""
ARCHIVE_HEADER_MAX_BYTES: Final = MIB
"""Bytes of one extended header of a tar, and of a long name in one."""
ARCHIVE_MAX_PROBLEMS: Final = 100
"""Problems reported for one archive; the rest are counted."""
