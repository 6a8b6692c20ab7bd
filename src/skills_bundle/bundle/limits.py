"""Record: limits of lock, receipt and bill of materials, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import MIB

# --- Lock, receipt and bill of materials ----------------------------------------------------------
LOCK_MAX_BYTES: Final = 64 * MIB
"""Bytes of `catalog.lock.json`."""
RECEIPT_MAX_BYTES: Final = 1 * MIB
"""Bytes of `build-receipt.json`."""
RECEIPT_MAX_INPUTS: Final = 20_000
"""Build inputs that a receipt lists."""
SBOM_MAX_BYTES: Final = 64 * MIB
"""Bytes of a bill of materials that is compared with lock and receipt: the same as for a lock."""
