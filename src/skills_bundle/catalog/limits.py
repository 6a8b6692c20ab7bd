"""Record: limits of what a catalog answers, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB

# --- Catalog tools --------------------------------------------------------------------------------
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
OVERVIEW_MAX_COLLECTIONS: Final = 8
"""Collections named in one line of an overview; the rest are counted."""
OVERVIEW_MAX_UNLISTED: Final = 8
"""Skills an overview names that the skills extension does not list; the rest are counted."""
READ_DEFAULT_LIMIT: Final = 48 * KIB
"""Bytes of one page of a read unless the caller sets a limit: about 12,000 tokens of English."""
READ_MIN_LIMIT: Final = 4
"""Minimum bytes of one page of a read: the longest UTF-8 character, so that each page advances."""
READ_MAX_LIMIT: Final = 192 * KIB
"""Bytes of one page of a read. A response of at most 1 MiB holds a page twice, as text and as
structured content; this many bytes of prose or code always fit. Quotes, backslashes and control
characters take up to 13 bytes each: a page with too many of them ends sooner."""
READ_PAGE_MAX_JSON_BYTES: Final = 976 * KIB
"""Bytes of a page as JSON, both copies together; the rest of a response is for its envelope."""

# --- Resources and skill entries ------------------------------------------------------------------
SKILL_ENTRY_MAX_BYTES: Final = 768 * KIB
"""Bytes of one skill's entry as compact JSON: with its envelope it must fit a response. A skill of
512 files with paths of common length has an entry of about 100 KiB."""
RESOURCE_FILE_MAX_BYTES: Final = 760 * KIB
"""Bytes of a file that `resources/read` always returns, at worst as base64. A skill that holds a
larger file has no entry in `skills/list`, because a host might not get all of it."""
LISTING_PAGE_MAX_BYTES: Final = 256 * KIB
"""Bytes of the items in one page of a listing; a larger item gets its own page."""
