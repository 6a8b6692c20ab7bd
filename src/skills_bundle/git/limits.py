"""Record: limits of what is read from a repository, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB, MIB

# --- Git ------------------------------------------------------------------------------------------
LINKS_MAX_FOLLOWED: Final = 40
"""Symbolic links followed to reach one build input: what Linux allows."""
COMMIT_MAX_FILES: Final = 500_000
"""Files of one commit that is compared or rebuilt. A few trees that repeat each other can describe
billions of files."""
COMMIT_BLOB_MAX_BYTES: Final = 512 * MIB
"""Bytes of one git object that is read: as much as an archive may hold unpacked."""
PROOF_MAX_BYTES: Final = 64 * KIB
"""Bytes of raw git objects in a receipt; a longer proof is left out by a build and
refused by a reader."""
PROOF_MAX_OBJECTS: Final = 65
"""Raw git objects in a receipt: the commit, and one tree for each level of a scan."""
REBUILD_MAX_HISTORY: Final = 10_000
"""Commits before the built one that a rebuild's clone holds: some version tools count them."""
BUILD_PROBLEMS_SHOWN: Final = 20
"""Problems a failing build prints before it names the command that lists them all."""
