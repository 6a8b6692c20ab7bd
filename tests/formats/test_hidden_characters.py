"""Every character that is not visible is found, and ordinary text is not."""

from __future__ import annotations

import pytest

from skills_bundle.formats.hidden_characters import first_hidden

HIDDEN = [
    *range(0x202A, 0x202F),  # bidi embeddings and overrides
    *range(0x2060, 0x2070),  # isolates and word joiner
    *range(0xE0000, 0xE0080),  # tag characters
    *range(0xE0100, 0xE01F0),  # variation selectors
    *range(0xFE00, 0xFE10),
    *range(0x200B, 0x2010),  # zero-width characters and marks
    *[0x00AD, 0x061C, 0x115F, 0x1160, 0x180E, 0x3164, 0xFEFF, 0xFFA0],
]


@pytest.mark.parametrize("code", HIDDEN, ids=lambda code: f"U+{code:04X}")
def test_hidden_characters_between_letters_are_found(code: int) -> None:
    """Wherever a reader would see nothing."""
    hit = first_hidden(f"a{chr(code)}b")
    assert hit is not None
    assert hit[0] == chr(code)


@pytest.mark.parametrize(
    "text",
    [
        "\u26a0\ufe0f",  # a warning sign as an emoji
        "1\ufe0f\u20e3",  # a keycap
        "\U0001f469\u200d\U0001f4bb",  # two joined emoji
        "\u0645\u06cc\u200c\u062e",  # Persian
        "\u0915\u094d\u200d\u0937",  # Hindi
        "caf\u00e9 \u65e5\u672c\u8a9e \t\n",
    ],
)
def test_ordinary_text_holds_none(text: str) -> None:
    """Emoji and scripts that need joiners."""
    assert first_hidden(text) is None
