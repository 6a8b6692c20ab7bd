"""Record: the characters that are not visible, or that change the order in which text is shown.

They are Unicode's default ignorable code points (bidi controls, tag characters, zero-width
characters, variation selectors, fillers) and the annotation characters. Three uses are ordinary
text and do not count: a variation selector after an emoji base, a joiner between two emoji, and a
joiner after a letter of the scripts that need it (Arabic to Sinhala).
"""

from __future__ import annotations

import re
from typing import Final

_EMOJI: Final = "#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_HIDDEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<![{_EMOJI}])[\ufe0e\ufe0f]"
    f"|(?<![{_EMOJI}\ufe0f\u0600-\u0dff])[\u200c\u200d]"
)


def first_hidden(text: str) -> re.Match[str] | None:
    """Return the first hidden character of a text as a match; None if there is none."""
    return _HIDDEN.search(text)
