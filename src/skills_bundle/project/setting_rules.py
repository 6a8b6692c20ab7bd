"""Decision: what each setting of the build hook may be, one check a key.

A check gives a sentence for everything wrong with a value as TOML gave it.
"""

from __future__ import annotations

import keyword
import re
import sys
from typing import TYPE_CHECKING, Final, cast

from skills_bundle.files import paths
from skills_bundle.project import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IDENTIFIERS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_COLLECTION: Final = re.compile(r"[a-z0-9]+([-._][a-z0-9]+)*")
_REPOSITORY: Final = re.compile(r"(https?|ssh|git)://[^\s/?#]+/?[^\s]*")
_PASSWORD: Final = re.compile(r"[a-z+]+://[^/?#@]*:[^/?#@]*@")
_OF_PYTHON: Final = sys.stdlib_module_names | {"test"}  # which that set leaves out
_REF: Final = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


def _text(value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield "must be a string"
    elif not value or len(value) > limits.SETTING_MAX_CHARACTERS:
        yield f"must have 1 to {limits.SETTING_MAX_CHARACTERS} characters"


def _matching(pattern: re.Pattern[str], message: str) -> Callable[[object], Iterator[str]]:
    """Give a check for text of one form."""

    def check(value: object) -> Iterator[str]:
        wrong = [*_text(value)]
        if not wrong and pattern.fullmatch(str(value)) is None:
            wrong = [message]
        yield from wrong

    return check


def _boolean(value: object) -> Iterator[str]:
    if not isinstance(value, bool):
        yield "must be true or false"


def _folder(value: object) -> Iterator[str]:
    wrong = [*_text(value)]
    if not wrong and value != ".":
        wrong = [f"{value!r} {message}" for _, message in paths.problems(str(value))]
    if wrong:
        yield "must be a folder relative to the project: " + "; ".join(wrong)


def _folders(value: object) -> Iterator[str]:
    if not isinstance(value, list):
        yield "must be an array of strings"
        return
    for position, entry in enumerate(cast("list[object]", value)):
        path = entry.removesuffix("/") if isinstance(entry, str) else entry
        for message in ("is the whole collection",) if path == "." else _folder(path):
            yield f"entry {position}: {message}"


def _repository(value: object) -> Iterator[str]:
    yield from _matching(_REPOSITORY, "must be an address such as https://example.org/o/r")(value)
    if isinstance(value, str) and _PASSWORD.match(value):
        yield "must not hold a password: it ships in every wheel"


def _source_ref(value: object) -> Iterator[str]:
    wrong = [*_matching(_REF, "must be a full ref such as refs/tags/v{version}")(value)]
    rest = str(value).replace("{version}", "")
    if not wrong and ("{" in rest or "}" in rest):
        wrong = ["knows no placeholder but {version}"]
    if not wrong and (".." in rest or "//" in rest or rest.endswith((".lock", "/", "."))):
        wrong = ["is no ref that git accepts"]
    yield from wrong


def _collection(value: object) -> Iterator[str]:
    yield from _matching(_COLLECTION, "must be lower-case letters and digits joined by - . or _")(
        value
    )
    if isinstance(value, str) and len(value) > limits.COLLECTION_MAX_CHARACTERS:
        yield f"must have at most {limits.COLLECTION_MAX_CHARACTERS} characters"


def _package(value: object) -> Iterator[str]:
    wrong = [*_matching(_IDENTIFIERS, "must be the dotted name of an import package")(value)]
    names = [] if wrong else str(value).split(".")
    wrong += [
        f"{name} is a word of Python's own, and no import can name it"
        for name in names
        if keyword.iskeyword(name)
    ]
    if names and names[0] in _OF_PYTHON:
        wrong.append(f"{names[0]} is a module of Python's own, which is found in its place")
    yield from wrong


def _compression(value: object) -> Iterator[str]:
    if value not in ("stored", "deflated"):
        yield 'must be "stored" or "deflated"'


CHECKS: Final[dict[str, Callable[[object], Iterator[str]]]] = {
    "skills": _folder,
    "package": _package,
    "repository": _repository,
    "source-ref": _source_ref,
    "strict": _boolean,
    "exclude": _folders,
    "proof": _boolean,
    "collection": _collection,
    "compression": _compression,
    "sbom": _boolean,
}
"""Every setting, as spelled in TOML, with its check."""
