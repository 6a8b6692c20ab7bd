"""Decision: is a wheel's script the file that it was made from?"""

from __future__ import annotations

import re
from typing import Final

_PYTHON_SHEBANG: Final = re.compile(rb"#!.*(?:pythonw?|pypyw?)[0-9.]*(.*)", re.DOTALL)
"""The first line that hatchling rewrites; what follows the interpreter is kept."""


def is_script_of(member: bytes, source: bytes) -> bool:
    """Tell whether a wheel's script is a source file as it is, or with its first line rewritten.

    Installers put an environment's own interpreter where a script says `#!python` (PyPA, Binary
    distribution format); nothing but that line may differ.

    Args:
        member: The script in the wheel.
        source: The file it was made from.
    """
    if member == source:
        return True
    line, feed, body = source.partition(b"\n")
    found = _PYTHON_SHEBANG.fullmatch(line + feed)
    return found is not None and member == b"#!python" + found[1] + body
