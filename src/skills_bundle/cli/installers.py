"""Edge: which tool installed this program, and the commands that repair or extend it.

`python -m pip` is often wrong: an environment of uv has no pip, and `python` can be another one.
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
    """The tool that manages an environment.

    Attributes:
        kind: `uv` is `uv pip`; `uv_tool` and `pipx` manage an environment for each program.
        python: The environment's interpreter.
        name: The environment's name in pipx.
    """

    kind: Kind
    python: str
    name: str


def current_installer() -> Installer:
    """Return the installer of the running environment."""
    return installer_of(Path(sys.prefix), sys.executable, has_pip=find_spec("pip") is not None)


def installer_of(prefix: Path, python: str, *, has_pip: bool) -> Installer:
    """Return the installer of an environment.

    Args:
        prefix: Its folder.
        python: Its interpreter.
        has_pip: Whether it has pip.
    """
    kind: Kind = "pip" if has_pip else "uv"
    if (prefix / "uv-receipt.toml").is_file():
        kind = "uv_tool"
    elif (prefix / "pipx_metadata.json").is_file() and prefix.parent.name == "venvs":
        kind = "pipx"  # in another folder it is a temporary environment of `pipx run`
    return Installer(kind, python, prefix.name)


def reinstall_command(requirement: str, installer: Installer) -> str:
    """Return the command that installs a distribution again.

    Args:
        requirement: Its name and version, `name==version`.
        installer: The environment's installer.
    """
    is_ours = requirement.startswith(f"{OWN_NAME}==")
    ours = f"{OWN_NAME}=={__version__}"
    words = {
        "uv_tool": [
            *("uv", "tool", "install", "--reinstall"),
            *((requirement,) if is_ours else ("--with", requirement, ours)),
        ],
        "pipx": (
            ["pipx", "reinstall", installer.name]
            if is_ours
            else ["pipx", "inject", "--force", installer.name, requirement]
        ),
        "pip": [
            *(installer.python, "-m", "pip", "install"),
            *("--force-reinstall", "--no-deps", requirement),
        ],
        "uv": ["uv", "pip", "install", "--python", installer.python, "--reinstall", requirement],
    }
    return shlex.join(words[installer.kind])


def extra_command(extra: str, installer: Installer) -> str:
    """Return the command that adds an extra of skills-bundle to this installation."""
    requirement = f"{OWN_NAME}[{extra}]=={__version__}"
    words = {
        "uv_tool": ["uv", "tool", "install", requirement],
        "pipx": ["pipx", "install", "--force", requirement],
        "pip": [installer.python, "-m", "pip", "install", requirement],
        "uv": ["uv", "pip", "install", "--python", installer.python, requirement],
    }
    return shlex.join(words[installer.kind])
