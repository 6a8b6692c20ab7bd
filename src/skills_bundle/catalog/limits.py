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
SEARCH_PAGE_MAX_BYTES: Final = 10 * KIB
"""Bytes of the rows in one page of search results as JSON; a page ends sooner, after at least one
row. It grows with a limit above the default, so that a caller who asks for more gets it."""
OVERVIEW_MAX_ENTRIES: Final = 100
"""Skills in an overview; also the default."""
OVERVIEW_MAX_CHARACTERS: Final = 4096
"""UTF-16 units of an overview."""
OVERVIEW_DESCRIPTION_MAX_CHARACTERS: Final = (140, 120, 100, 80, 60, 40, 20)
"""Code points of one description in an overview: the first with which all skills fit, else the
last."""
OVERVIEW_LOCATOR_MAX_CHARACTERS: Final = 512
"""Characters of one quoted locator in an overview."""
OVERVIEW_MAX_COLLECTIONS: Final = 8
"""Collections named in one line of an overview; the rest are counted."""
OVERVIEW_MAX_UNLISTED: Final = 8
"""Skills an overview names that the skills extension does not list; the rest are counted."""
READ_DEFAULT_LIMIT: Final = 10 * KIB
"""Bytes of one page of a read unless the caller sets a limit. A page is sent twice, as text and as
structured content: about 5,000 tokens of English or 7,000 of Chinese. With the list of files and
the provenance, the answer stays below 10,000 tokens, above which hosts warn."""
READ_MAX_FILES: Final = 100
"""Files that a read of SKILL.md lists; the rest are counted."""
READ_FILES_MAX_BYTES: Final = 3 * KIB
"""Bytes of that list as JSON; the rest of the files are counted."""
ERROR_MAX_NAMES: Final = 3
"""Similar skills that an error suggests."""
ERROR_MAX_FILES: Final = 12
"""Files of a skill that an error lists; the rest are counted."""
ERROR_NAME_MAX_CHARACTERS: Final = 120
"""Characters of a quoted name in an error; a longer one is left out."""
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
