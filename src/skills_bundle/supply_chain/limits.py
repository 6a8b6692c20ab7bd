"""Record: limits of comparisons, rebuilds and statements, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB, MIB

# --- Diff -----------------------------------------------------------------------------------------
DIFF_MAX_LINES: Final = 2000
"""Lines of all unified diffs that one comparison shows."""
DIFF_TEXT_MAX_LINES: Final = 2000
"""Lines of a text that is compared line by line: the time grows with their square."""
DIFF_TEXT_MAX_BYTES: Final = 512 * KIB
"""Bytes of a text that is compared line by line."""

# --- Rebuild --------------------------------------------------------------------------------------
REBUILD_SECONDS: Final = 1800.0
"""Seconds a rebuild's front end may take unless `--timeout` says otherwise."""
REBUILD_STOP_SECONDS: Final = 5.0
"""Seconds a front end may take to stop after a signal; then it is killed."""
REBUILD_LOG_BYTES: Final = 64 * KIB
"""Bytes at the end of a front end's log that are read to say why it failed."""
REBUILD_LOG_LINES: Final = 20
"""Lines of that log that are shown."""

# --- Signatures and statements --------------------------------------------------------------------
ALLOWED_SIGNERS_MAX_BYTES: Final = MIB
"""Bytes of a file of allowed signers."""
SIGNATURE_MAX_BYTES: Final = 64 * KIB
"""Bytes of a detached SSH signature."""
STATEMENT_MAX_BYTES: Final = 4 * MIB
"""Bytes of a statement, or of an envelope that holds some."""
STATEMENT_MAX_SUBJECTS: Final = 10_000
"""Subjects of one statement."""
SSH_KEYGEN_SECONDS: Final = 10.0
"""Seconds one run of `ssh-keygen` may take; it usually takes milliseconds."""
SSH_KEYGEN_MAX_OUTPUT_BYTES: Final = 64 * KIB
"""Bytes of its output that are read."""
