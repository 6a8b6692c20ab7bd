"""The encoding that keeps `mcp check` from holding a line without end."""

from __future__ import annotations

import codecs

import pytest

from skills_bundle.server import limits
from skills_bundle.server.check import codec as check_codec


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> codecs.IncrementalDecoder:
    """One that takes lines of ten bytes."""
    monkeypatch.setattr(limits, "CHECK_LINE_MAX_BYTES", 10)
    return codecs.getincrementaldecoder(check_codec.register())()


def test_lines_come_out_as_utf8(decoder: codecs.IncrementalDecoder) -> None:
    """Also a character whose bytes come apart; however many lines there are."""
    data = "fox 🦊\n".encode() * 100
    pieces = [data[start : start + 3] for start in range(0, len(data), 3)]
    assert "".join(map(decoder.decode, pieces)) == data.decode()


def test_a_line_that_is_too_long_is_refused_before_it_ends(
    decoder: codecs.IncrementalDecoder,
) -> None:
    """Counted across pieces, from the last line feed."""
    assert decoder.decode(b"ab\n12345") == "ab\n12345"
    assert decoder.decode(b"67890") == "67890"
    with pytest.raises(check_codec.EndlessLineError):
        decoder.decode(b"1")


def test_bytes_that_are_no_text_are_refused(decoder: codecs.IncrementalDecoder) -> None:
    """As by UTF-8 itself."""
    with pytest.raises(UnicodeDecodeError):
        decoder.decode(b"\xff\n")


def test_an_encoding_of_another_name_is_not_ours() -> None:
    """Python asks every function that was registered."""
    check_codec.register()
    with pytest.raises(LookupError):
        codecs.lookup("skills_bundle_other")
