"""Decision: parse foreign TOML into tables, or one problem with its line.

The standard library's reader recurses as deep as the document, and passes on Python's own errors
about huge numbers; both are problems of the file here.
"""

from __future__ import annotations

import re
import tomllib
from typing import Final, cast

from skills_bundle.errors import Problem, SettingsError
from skills_bundle.formats import limits

_LINE: Final = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")
_BOM: Final = b"\xef\xbb\xbf"


def parse(data: bytes, name: str) -> dict[str, object]:
    """Read a document.

    Args:
        data: Its bytes.
        name: Its name in problems.

    Raises:
        SettingsError: If it is not UTF-8 or not TOML, with the line; or if it
            is nested more than `limits.TOML_MAX_DEPTH` deep or has a number with too many digits.
    """
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _unreadable(name, "is not UTF-8", data[: error.start].count(b"\n") + 1) from error
    except tomllib.TOMLDecodeError as error:
        if data.startswith(_BOM):
            message = "starts with a byte order mark, which TOML does not allow; save without it"
            raise _unreadable(name, message, 1) from error
        place = _LINE.search(str(error))
        line = int(place[1]) if place and place[1] else data.count(b"\n") + 1
        message = f"is not TOML: {_LINE.sub('', str(error)).strip()}"
        raise _unreadable(name, message, line) from error
    except ValueError as error:
        raise _unreadable(name, "contains a number with too many digits", None) from error
    except RecursionError as error:
        raise _too_deep(name) from error
    if not _is_shallow(found):
        raise _too_deep(name)
    return found


def _is_shallow(document: object) -> bool:
    """Return whether nothing is nested too deeply; dotted keys nest without recursion."""
    level = [document]
    for _ in range(limits.TOML_MAX_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return True
    return False


def _inside(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*cast("dict[str, object]", value).values()]
    return cast("list[object]", value) if isinstance(value, list) else []


def _too_deep(name: str) -> SettingsError:
    return _unreadable(name, f"is nested more than {limits.TOML_MAX_DEPTH} deep", None)


def _unreadable(name: str, message: str, line: int | None) -> SettingsError:
    problem = Problem(code="unreadable_settings", message=message, path=name, line=line)
    return SettingsError(f"{name} cannot be read.", (problem,))
