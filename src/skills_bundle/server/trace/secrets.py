"""Decision: what of a conversation looks like a secret: by its name, or by its form.

Best effort: a secret under a harmless name and without a known form cannot be told from any text.
All patterns take linear time, whatever a client sends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

REDACTED: Final = "[redacted]"

SECRET_WORDS: Final = frozenset(
    {
        "auth",
        "authentication",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "jwt",
        "key",
        "keys",
        "otp",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "pwd",
        "secret",
        "secrets",
        "session",
        "sig",
        "signature",
        "token",
        "tokens",
    }
)
"""A name with one of these among its words names a secret."""

_ENDINGS: Final = (
    *("token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "cookie"),
    *("apikey", "accesskey", "privatekey", "secretkey", "sessionid"),
)
"""Ends of names that are written without anything between their words."""

HARMLESS_NAMES: Final = frozenset(
    {
        *("progresstoken", "cursor", "nextcursor", "publickey", "primarykey"),
        *("maxtokens", "inputtokens", "outputtokens", "totaltokens"),
    }
)
"""Names that are the protocol's, or common, and name no secret; without what is between words."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ASSIGNED: Final = re.compile(
    r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*+)["']?\s*+[=:]\s*+["']?""", re.IGNORECASE
)
_VALUE: Final = re.compile(
    r"""(?:(?:bearer|basic|token)\s++)?(?P<secret>[^\s"'&,;]++)""", re.IGNORECASE
)
_FORMS: Final = (
    re.compile(r"\A(?:bearer|basic|token)\s+(?P<secret>\S+)\Z", re.IGNORECASE),
    re.compile(r"\b(?:bearer|basic)\s++(?=\D{0,64}\d)(?P<secret>[\w.~+/=-]{8,})", re.IGNORECASE),
    re.compile(r"://(?P<secret>[^\s/@?#]++)@"),
    re.compile(
        r"(?<![\w-])(?P<secret>(?:gh[opsur]_|github_pat_|glpat-|sk-|xox[abeoprs]-|npm_|pypi-|hf_"
        r"|AIza|AKIA|ASIA)[\w-]{12,}|eyJ[\w-]++\.[\w-]++(?:\.[\w-]*+)?)"
    ),
    re.compile(r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----(?P<secret>[\s\S]+)"),
)
_SUSPICIOUS: Final = re.compile(  # also names written with escapes
    r"\\u00|auth|basic|bearer|cookie|cred|jwt|key|otp|pass|pwd|secret|session|sig|token",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Tell whether what stands under a name is to be left out."""
    words = [word.lower() for word in _WORD.findall(name)]
    plain = "".join(words)
    if plain in HARMLESS_NAMES:
        return False
    return not SECRET_WORDS.isdisjoint(words) or plain.endswith(_ENDINGS)


def is_pair(value: dict[str, JsonValue]) -> bool:
    """Tell whether an object is a value and its name, and that names a secret."""
    names = (value.get("name"), value.get("key"))
    return "value" in value and any(isinstance(n, str) and is_secret_name(n) for n in names)


def in_text(text: str) -> Iterator[tuple[str, str]]:
    """Give each secret in a text, with as much before it as it was known by."""
    end = 0
    for name in _ASSIGNED.finditer(text):
        if name.start() >= end and is_secret_name(name["name"]):
            value = _VALUE.match(text, name.end())
            if value is not None:
                end = value.end()
                yield text[name.start() : end], value["secret"]
    for form in _FORMS:
        for found in form.finditer(text):
            yield found[0], found["secret"]


def suspicious(data: bytes) -> bool:
    """Tell whether bytes that are no message could hold a secret."""
    text = data.decode("latin-1")
    return _SUSPICIOUS.search(text) is not None or any(True for _ in in_text(text))


def texts(value: JsonValue) -> list[str]:
    """Give every string, number and name in a value, as text."""
    if isinstance(value, dict):
        return [text for name, part in value.items() for text in (name, *texts(part))]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [] if value is None or isinstance(value, bool) else [str(value)]
