"""Decision: file names are bytes on disk and UTF-8 for us, whatever the locale says.

Python decodes names by the locale's encoding. In a container with `LC_ALL=C`, or with a Latin-1
locale, the same file would have another name, and a lock of it other bytes. So names are taken
back to bytes and read as UTF-8; what is not UTF-8 becomes lone surrogates, as Python does it.
Where the locale is UTF-8 (and on Windows, whose names are Unicode) nothing changes.
"""

from __future__ import annotations

import os


def from_disk(name: str) -> str:
    """Return a name or path in UTF-8 from how the disk spells it.

    Args:
        name: As `os.listdir`, `os.scandir` or a `Path` gave it.
    """
    if os.name == "nt" or name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def shown(text: str) -> str:
    r"""Return a name, an argument or foreign text in a form that every encoder accepts.

    Args:
        text: What is not UTF-8 in it has become lone surrogates; these are written as `\xff`, and
            other ones as `\ud800`.
    """
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")


def to_disk(name: str) -> str:
    """Return a name or path as Python expects it; the inverse of `from_disk`.

    Args:
        name: As a lock or git spells it.
    """
    if os.name == "nt" or name.isascii():
        return name
    return os.fsdecode(name.encode("utf-8", "surrogateescape"))
