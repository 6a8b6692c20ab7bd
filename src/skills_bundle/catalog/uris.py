"""Decision: the one spelling of the URI of every locked file and folder.

`skill://` and the path below the skills folder, every UTF-8 byte but the unreserved characters of
RFC 3986 (letters, digits, `-._~`) and the slash percent-encoded in capitals. No URI library changes
this spelling: nothing in it can be decoded, lowered or resolved away. Because hosts tell skills
apart by URI, no second spelling answers: not lower-case hex digits, not `%2E`, not a plain space.

A server of several collections puts the collection's name before the path, as one more component:
a slash in it is encoded, so that no collection's URIs begin like another's.
"""

from __future__ import annotations

import re
from typing import Final

from skills_bundle.files import limits

SCHEME: Final = "skill://"

_ESCAPED_IN_NAME: Final = re.compile(rb"[^A-Za-z0-9._~-]")
_ESCAPED: Final = re.compile(rb"[^A-Za-z0-9._~/-]")
_ESCAPE: Final = re.compile(rb"%([0-9A-F]{2})")
_SPELLED: Final = re.compile(r"skill://((?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+)")
_MAX_CHARACTERS: Final = len(SCHEME) + 9 * limits.PATH_MAX_CHARACTERS
"""A UTF-16 unit is at most three bytes of UTF-8, and a byte at most three characters of a URI."""


def base_of(collection: str) -> str:
    """Give what the URIs of a collection begin with where several are served.

    Args:
        collection: Its name; any text that is not empty.
    """
    return f"{SCHEME}{_quoted(_ESCAPED_IN_NAME, collection)}/"


def of(path: str, base: str = SCHEME) -> str:
    """Give the URI of a path below the skills folder; a folder's has no slash at its end.

    Args:
        path: The path.
        base: What the URIs of its collection begin with.
    """
    return base + _quoted(_ESCAPED, path)


def _quoted(escaped: re.Pattern[bytes], text: str) -> str:
    return escaped.sub(lambda match: b"%%%02X" % match[0][0], text.encode()).decode("ascii")


def path_of(uri: str, base: str = SCHEME) -> str | None:
    """Give the path that has exactly this URI, or None if none can have it.

    The path is not checked further: whoever looks it up in a lock finds portable paths only.

    Args:
        uri: As it was sent.
        base: What the URIs of the collection begin with.
    """
    if len(uri) > _MAX_CHARACTERS + len(base) or not uri.startswith(base):
        return None
    spelled = _SPELLED.fullmatch(SCHEME + uri.removeprefix(base))
    if spelled is None:
        return None
    raw = _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), spelled[1].encode("ascii"))
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return None
    return path if of(path, base) == uri else None
