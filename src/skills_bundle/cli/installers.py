"""Edge: how the running installation was made, and the command that makes it again.

`python -m pip` is right in few places: an environment that uv made has no pip, and `python` may be
any interpreter.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from skills_bundle import __version__
from skills_bundle.installed.location import OWN_NAME

Kind = Literal["uv_tool", "pipx", "pip", "uv"]


@dataclass(frozen=True, slots=True)
class Installer:
    """What can change an environment.

    Attributes:
        kind: `uv` is uv's interface to any environment; `uv_tool` and `pipx` own theirs.
        python: The environment's interpreter.
        name: Name of the environment, as pipx calls it.
    """

    kind: Kind
    python: str
    name: str


def here() -> Installer:
    """Find out what made the environment that runs this."""
    return of(Path(sys.prefix), sys.executable, has_pip=find_spec("pip") is not None)


def of(prefix: Path, python: str, *, has_pip: bool) -> Installer:
    """Find out what made an environment.

    Args:
        prefix: Its folder.
        python: Its interpreter.
        has_pip: Whether pip can be run in it.
    """
    kind: Kind = "pip" if has_pip else "uv"
    if (prefix / "uv-receipt.toml").is_file():
        kind = "uv_tool"
    elif (prefix / "pipx_metadata.json").is_file() and prefix.parent.name == "venvs":
        kind = "pipx"  # elsewhere it is a temporary environment of `pipx run`
    return Installer(kind, python, prefix.name)


def reinstall_command(wanted: str, installer: Installer) -> str:
    """Give the command that installs the same again.

    Args:
        wanted: Requirement with its version; of ours, or of one that brings a collection.
        installer: What made the environment.
    """
    guest = not wanted.startswith(f"{OWN_NAME}==")
    own = f"{OWN_NAME}=={__version__}"
    words = {
        "uv_tool": [
            *("uv", "tool", "install", "--reinstall"),
            *(("--with", wanted, own) if guest else (wanted,)),
        ],
        "pipx": (
            ["pipx", "inject", "--force", installer.name, wanted]
            if guest
            else ["pipx", "reinstall", installer.name]
        ),
        "pip": [installer.python, "-m", "pip", "install", "--force-reinstall", "--no-deps", wanted],
        "uv": ["uv", "pip", "install", "--python", installer.python, "--reinstall", wanted],
    }
    return shlex.join(words[installer.kind])


def extra_command(extra: str, installer: Installer) -> str:
    """Give the command that adds an extra of ours to the installation."""
    wanted = f"{OWN_NAME}[{extra}]=={__version__}"
    words = {
        "uv_tool": ["uv", "tool", "install", wanted],
        "pipx": ["pipx", "install", "--force", wanted],
        "pip": [installer.python, "-m", "pip", "install", wanted],
        "uv": ["uv", "pip", "install", "--python", installer.python, wanted],
    }
    return shlex.join(words[installer.kind])
