"""Record: limits of JSON, TOML and a distribution's metadata, with their units and reasons."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- JSON -----------------------------------------------------------------------------------------
JSON_MAX_DEPTH: Final = 64
"""Nested containers; the outermost value has depth 0. Protects every recursive reader."""
JSON_MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Integers beyond this are not the same number in every JSON reader (RFC 8259, section 6)."""
JSON_MAX_NUMBER_CHARACTERS: Final = 64
"""Characters of one number. Longer ones cost quadratic time and mean nothing."""

# --- TOML -----------------------------------------------------------------------------------------
TOML_MAX_DEPTH: Final = 100
"""Nested tables and arrays in a `pyproject.toml`."""

# --- Metadata of a distribution -------------------------------------------------------------------
METADATA_MAX_BYTES: Final = 4 * MIB
"""Bytes of a distribution's `METADATA`; it holds a whole README."""
RECORD_MAX_BYTES: Final = 64 * MIB
"""Bytes of a distribution's `RECORD`: one row per file, so the same as for a lock."""
RECORD_MAX_ROWS: Final = 200_000
"""Rows of a RECORD; more than any distribution has files."""
RECORD_MAX_PROBLEMS: Final = 100
"""Problems reported for one RECORD; the rest are counted."""
