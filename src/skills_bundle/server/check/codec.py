"""Edge: a text encoding that refuses a line without end, so that `mcp check` holds no such line.

The SDK's transport collects a line until it is whole, however long. What can be chosen from outside
is the encoding it reads with, and a decoder sees every byte before it is collected.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from skills_bundle.server import limits

if TYPE_CHECKING:
    from typing_extensions import Buffer

NAME: Final = "skills_bundle_bounded_utf8"


class EndlessLineError(ValueError):
    """A line has more than `limits.CHECK_LINE_MAX_BYTES` bytes."""


class _Decoder(codecs.BufferedIncrementalDecoder):
    """UTF-8 that counts the bytes since the last line feed."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._line = 0

    def _buffer_decode(self, input: Buffer, errors: str, final: bool) -> tuple[str, int]:  # noqa: A002, FBT001 -- the signature is the standard library's
        return codecs.utf_8_decode(input, errors, final)

    def decode(self, input: Buffer, final: bool = False) -> str:  # noqa: A002, FBT001, FBT002 -- likewise
        piece = bytes(input)
        last = piece.rfind(b"\n")
        self._line = self._line + len(piece) if last < 0 else len(piece) - last - 1
        if self._line > limits.CHECK_LINE_MAX_BYTES:
            raise EndlessLineError
        return super().decode(piece, final)


def register() -> str:
    """Make the encoding known to Python; give its name. Repeating it changes nothing."""
    codecs.register(_find)
    return NAME


def _find(name: str) -> codecs.CodecInfo | None:
    if name != NAME:
        return None
    plain = codecs.lookup("utf-8")
    return codecs.CodecInfo(
        plain.encode,
        plain.decode,
        plain.streamreader,
        plain.streamwriter,
        plain.incrementalencoder,
        _Decoder,
        NAME,
    )
