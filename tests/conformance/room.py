"""Edge: a folder with the installed wheel, every client, and a home of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

HERE: Final = Path(__file__).parent
PATIENCE: Final = 180
"""Seconds that one program may take."""


def python_clients() -> dict[str, dict[str, Any]]:
    """Return the pins of what runs on Python."""
    return tomllib.loads((HERE / "python_clients.toml").read_text(encoding="utf-8"))


def node_packages() -> dict[str, str]:
    """Return the pins of what runs on Node."""
    package = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    return cast("dict[str, str]", package["dependencies"])


@dataclass(frozen=True, slots=True)
class Room:
    """Where everything is installed; nothing outside of it is used or changed but caches."""

    folder: Path

    @property
    def server(self) -> Path:
        """The installed program that is tried."""
        return self._environment("server") / "bin" / "skills-bundle"

    @property
    def modules(self) -> Path:
        """What npm installed."""
        return self.folder / "node" / "node_modules"

    def python(self, client: str) -> Path:
        """Return the interpreter of a client that runs on Python."""
        return self._environment(client) / "bin" / "python"

    def program(self, name: str) -> str:
        """Return a program that npm installed."""
        return str(self.modules / ".bin" / name)

    def lock(self) -> Path:
        """Return the lock of the installed wheel: what every answer is compared with."""
        (found,) = self._environment("server").glob("lib/*/site-packages/*/.agents/*.lock.json")
        return found

    def environment(self) -> dict[str, str]:
        """Return the variables that clients run with: our Node first, a home of its own."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = f"{self.modules / '.bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def run(self, *command: str | Path, limit: int = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Run a client; whatever it exits with, and 124 if it does not."""
        words = [str(word) for word in command]
        try:
            return subprocess.run(
                words,
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "", f"not done after {limit} seconds")

    def install(self) -> str:
        """Build and install the wheel, and install every client that is not there yet.

        Returns:
            The wheel's version.
        """
        wheel = self._build()
        shutil.rmtree(self._environment("server"), ignore_errors=True)
        self._install_python("server", [str(wheel)])
        for name, pins in python_clients().items():
            self._install_python(name, pins["install"])
        self._install_node()
        return wheel.name.split("-")[1]

    def _build(self) -> Path:
        place = self.folder / "dist"
        shutil.rmtree(place, ignore_errors=True)
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(place)]
        _check([*build, str(HERE.parents[1])])
        (wheel,) = place.glob("*.whl")
        return wheel

    def _environment(self, name: str) -> Path:
        return self.folder / "python" / name.replace(" ", "-")

    def _install_python(self, name: str, requirements: list[str]) -> None:
        place = self._environment(name)
        uv = [sys.executable, "-m", "uv"]
        if not place.exists():
            _check([*uv, "venv", "--quiet", "--python", sys.executable, str(place)])
        _check([*uv, "pip", "install", "--quiet", "--python", str(place), *requirements])

    def _install_node(self) -> None:
        """Install Node first, and with it the rest, whose install scripts need it."""
        place = self.folder / "node"
        place.mkdir(exist_ok=True)
        npm = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
        first = self.folder / "first-node"
        first.mkdir(exist_ok=True)
        node = f"node@{node_packages()['node']}"
        _check([*npm, "--prefix", str(first), "--no-save", node])
        shutil.copy(HERE / "package.json", place)
        path = f"{first / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
        _check([*npm, "--prefix", str(place)], PATH=path)
        # Modules are looked for beside the script that imports them, wherever it was started.
        for script in (HERE / "clients").glob("*.mjs"):
            shutil.copy(script, place)


def _check(command: list[str], **environment: str) -> None:
    subprocess.run(command, env={**os.environ, **environment}, check=True)
