"""Record: characters that are not visible or reorder text, and text without them for an agent.

They are Unicode's default ignorable code points (bidi controls, tag characters, zero-width
characters, variation selectors, fillers) and the annotation characters. Three uses are ordinary
text and do not count: a variation selector after an emoji base, a joiner between two emoji, and a
joiner after a letter of the scripts that need it (Arabic to Sinhala).
"""

from __future__ import annotations

import json
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
_HIDDEN_RUN: Final = re.compile(f"(?:{_HIDDEN.pattern})+")


def first_hidden(text: str) -> re.Match[str] | None:
    """Return the first hidden character of a text as a match; None if there is none."""
    return _HIDDEN.search(text)


REPLACEMENT: Final = "\ufffd"
"""What a run of hidden characters becomes: visible, and words stay apart."""

_LINK: Final = re.compile(r"\](?=[(\[])|!(?=\[)")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_MARKUP: Final = re.compile(r"[!#&()*:<>\[\]_`|~\u007f-\u009f\u2028\u2029]")


def neutral(text: str) -> str:
    """Return text of an author for an agent: nothing hidden, and no link, image or HTML tag.

    A run of hidden characters becomes U+FFFD, `](` becomes `] (`, `![` becomes `! [`, and the `<`
    of a tag becomes `\u2039`. Any other text stays the same.
    """
    visible = _HIDDEN_RUN.sub(REPLACEMENT, text)
    return _TAG.sub("\u2039", _LINK.sub(lambda match: f"{match[0]} ", visible))


def quoted(text: str) -> str:
    """Return text as a JSON string in which markup and hidden characters are escaped.

    Decoding the string returns exactly the text, and displaying it shows nothing else.
    """
    literal = json.dumps(text, ensure_ascii=False)
    return _HIDDEN.sub(_escape, _MARKUP.sub(_escape, literal))


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
