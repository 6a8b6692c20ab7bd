"""Edge: a file put in its place whole, at once, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Put bytes in a file's place at once: a reader finds the old ones or the new ones.

    The file is readable for all, as a checkout's are.

    Raises:
        OSError: If the folder cannot be written to, naming `path`; nothing is left behind.
    """
    try:
        _replace(path, data)
    except OSError as error:  # the system's own words name a temporary file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
