"""Record: every bound this package keeps, named, with its unit and the reason for its size."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- JSON -------------------------------------------------------------------------------------
JSON_MAX_DEPTH: Final = 64
"""Nested containers; the outermost value has depth 0. Protects every recursive reader."""
JSON_MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Integers beyond this are not the same number in every JSON reader (RFC 8259, section 6)."""
JSON_MAX_NUMBER_CHARACTERS: Final = 64
"""Characters of one number. Longer ones cost quadratic time and mean nothing."""

# --- skills -----------------------------------------------------------------------------------
SKILL_MAX_FILES: Final = 512
"""Files in one skill: the limit of the MCP skills extension."""
SKILL_MAX_BYTES: Final = 16 * MIB
"""Bytes of all files of one skill together: the limit of the MCP skills extension."""
SKILL_MD_MAX_LINES: Final = 500
"""Lines of SKILL.md before a warning: the Agent Skills specification's advice."""
SKILL_NAME_MAX_CHARACTERS: Final = 64
"""Code points of a skill's name: the Agent Skills specification."""
SKILL_DESCRIPTION_MAX_CHARACTERS: Final = 1024
"""Code points of a description before a warning: the Agent Skills specification."""
SKILL_COMPATIBILITY_MAX_CHARACTERS: Final = 500
"""Code points of `compatibility` before a warning: the Agent Skills specification."""
FRONTMATTER_MAX_BYTES: Final = 256 * KIB
"""Bytes of the YAML head of a SKILL.md."""
FRONTMATTER_MAX_DEPTH: Final = 32
"""Nested collections in frontmatter; well inside `JSON_MAX_DEPTH` once wrapped in the lock."""
FRONTMATTER_MAX_NODES: Final = 50_000
"""Scalars and collections in one frontmatter."""
SCAN_MAX_ENTRIES: Final = 200_000
"""Directory entries looked at in one scan, so that pointing it at `/` ends."""
SCAN_MAX_DEPTH: Final = 64
"""Folders below the skills folder."""
PATH_MAX_CHARACTERS: Final = 1024
"""UTF-16 units of a locked path, relative to its skills folder."""
PATH_MAX_COMPONENTS: Final = 24
"""Components of a locked path."""
PATH_COMPONENT_MAX_BYTES: Final = 255
"""UTF-8 bytes of one component of a path: what common file systems hold."""

# --- lock and receipt -------------------------------------------------------------------------
LOCK_MAX_BYTES: Final = 64 * MIB
"""Bytes of `catalog.lock.json`."""
RECEIPT_MAX_BYTES: Final = 1 * MIB
"""Bytes of `build-receipt.json`."""
PROOF_MAX_BYTES: Final = 64 * KIB
"""Bytes of raw git objects in a receipt; a longer proof is left out."""

# --- catalog tools ----------------------------------------------------------------------------
QUERY_MAX_CHARACTERS: Final = 200
"""Code points of a search query."""
SEARCH_DEFAULT_LIMIT: Final = 20
SEARCH_MAX_LIMIT: Final = 50
"""Skills in one page of search results."""
OVERVIEW_MAX_ENTRIES: Final = 24
"""Skills in an overview; also the default."""
OVERVIEW_MAX_CHARACTERS: Final = 4096
"""UTF-16 units of an overview."""
OVERVIEW_DESCRIPTION_MAX_CHARACTERS: Final = 140
"""Code points of one description in an overview."""
OVERVIEW_LABEL_MAX_CHARACTERS: Final = 64
"""Code points of one source label in an overview."""
OVERVIEW_LOCATOR_MAX_CHARACTERS: Final = 512
"""Characters of one quoted locator in an overview."""
READ_DEFAULT_LIMIT: Final = 48 * KIB
"""Bytes of one page of a read, if the caller names none: about 12,000 tokens of English text."""
READ_MAX_LIMIT: Final = 192 * KIB
"""Bytes of one page of a read. Text and structured copies share a response of at most 1 MiB,
and one byte can become six characters in JSON (a control character); hence no more than this."""

# --- transport --------------------------------------------------------------------------------
REQUEST_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one request line without its line feed."""
RESPONSE_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one response line with its line feed."""
REQUEST_ID_MAX_BYTES: Final = 1 * KIB
"""Bytes of a string id as JSON, quotes and escapes included."""
MAX_IN_FLIGHT_REQUESTS: Final = 8
"""Requests being answered at once on one connection."""
MAX_PARSE_ERROR_REPLIES: Final = 100
"""Replies to unreadable lines on one connection, after which it is closed."""
