"""Somebody who follows one page of the documentation to the letter.

A reader has an empty home folder, a fresh working folder, git, Python, uv and pipx, and no index
to download from: what is published lies in one local folder of wheels, and the documented commands
find it there as they stand.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.repository.pages import Block, Page, Step

TOOLS: Final = ("uv", "uvx", "pipx")
COMMAND_SECONDS: Final = 600
EXAMPLE_HOME: Final = "/home/you"
HANDSHAKE: Final = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "reader", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


@dataclass(slots=True)
class Reader:
    """One reader; `follow` reads a page from top to bottom.

    Attributes:
        room: An empty folder for everything this reader makes.
        python: The interpreter this reader has: one of a throw-away environment, so that a command
            that installs into the wrong place changes nothing but that.
        wheelhouse: Every published wheel there is.
        cache: uv's cache; may be shared, it only saves time.
        clone: A clone of the project to work in, for pages about working on it; else None.
        visit: Number of the current home.
        folders: Number of folders so far.
        where: The current working folder.
    """

    room: Path
    python: Path
    wheelhouse: Path
    cache: Path
    clone: Path | None = None
    visit: int = 0
    folders: int = 0
    where: Path = Path()

    def follow(self, page: Page) -> None:
        """Write every file, run every command, start every configured server of a page."""
        self.begin()
        for block in page.blocks():
            kind, _, detail = block.directive.partition(" ")
            if kind == "afresh":
                self.begin()
            if kind == "new":
                self.enter_new_folder()
            if kind == "file":
                self.write(detail, block.text)
            elif kind not in {"skip,", "elsewhere,"}:
                self.act(page, block, int(detail) if kind == "exit" else 0)

    def act(self, page: Page, block: Block, status: int) -> None:
        """Run a block's commands, each to this exit status, or start the servers it configures."""
        if block.language == "console":
            for step in block.steps():
                self.run(page, step, status)
        else:
            for command in launch_commands(block):
                self.serve(page, block, command)

    def begin(self) -> None:
        """Take a new folder and a new home."""
        self.visit += 1
        self.home.mkdir(parents=True)
        self._provide_tools()
        self.enter_new_folder()

    def enter_new_folder(self) -> None:
        """Take an empty folder, or another copy of the clone."""
        self.folders += 1
        self.where = self.room / f"folder-{self.folders}"
        if self.clone is None:
            self.where.mkdir()
        else:
            shutil.copytree(self.clone, self.where, symlinks=True)

    @property
    def home(self) -> Path:
        """The home folder of this visit."""
        return self.room / f"home-{self.visit}"

    def write(self, path: str, text: str) -> None:
        """Make a file the page shows."""
        file = self.where / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")

    def run(self, page: Page, step: Step, status: int) -> None:
        """Run one command and compare exit status and output with the page."""
        report = self.room / "where"
        # `cd` in one step holds for the next, as in a shell that stays open.
        script = f'{step.command}\nstatus=$?\npwd > "{report}"\nexit $status'
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=self.where,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
            timeout=COMMAND_SECONDS,
        )
        told = f"{page.name}:{step.line}: {step.command}\n{ran.stdout}\n{ran.stderr}"
        assert ran.returncode == status, f"exit {ran.returncode}, not {status}: {told}"
        missing = unseen(step.expected, [*ran.stdout.splitlines(), *ran.stderr.splitlines()])
        assert missing == [], f"not in the output: {missing}\n{told}"
        if report.exists():
            self.where = Path(report.read_text(encoding="utf-8").strip())

    def serve(self, page: Page, block: Block, command: Sequence[str]) -> None:
        """Start a configured server as a client would and ask for its tools."""
        command = [part.replace(EXAMPLE_HOME, str(self.home)) for part in command]
        program = shutil.which(command[0], path=self.environment()["PATH"])
        assert program is not None, f"{page.name}:{block.line}: no {command[0]}"
        ran = subprocess.run(
            [program, *command[1:]],
            cwd=self.where,
            env=self.environment(),
            input="".join(f"{json.dumps(message)}\n" for message in HANDSHAKE),
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
            timeout=COMMAND_SECONDS,
        )
        told = f"{page.name}:{block.line}: {shlex.join(command)}\n{ran.stdout}\n{ran.stderr}"
        assert ran.returncode == 0, told
        replies = [json.loads(line) for line in ran.stdout.splitlines()]
        assert [reply["id"] for reply in replies] == [1, 2], told
        tools = {tool["name"] for tool in replies[1]["result"]["tools"]}
        assert "skill_resource_read" in tools, told

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a command; nothing of ours leaks in."""
        home, tools = self.home, self.home / "tools"
        name = {"GIT_AUTHOR_NAME": "Reader", "GIT_AUTHOR_EMAIL": "reader@acme.example"}
        return {
            "HOME": str(home),
            "PATH": os.pathsep.join([f"{home}/.local/bin", str(tools), "/usr/bin", "/bin"]),
            "LC_ALL": "C.UTF-8",
            "TMPDIR": str(self.room),
            **name,
            **{key.replace("AUTHOR", "COMMITTER"): value for key, value in name.items()},
            "GIT_CONFIG_NOSYSTEM": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_FIND_LINKS": self.wheelhouse.as_uri(),
            "PIP_NO_INDEX": "1",
            "PIPX_DEFAULT_PYTHON": str(tools / "python3"),
            "UV_CACHE_DIR": str(self.cache),
            "UV_FIND_LINKS": str(self.wheelhouse),
            "UV_NO_CONFIG": "1",
            "UV_NO_INDEX": "1",
            "UV_OFFLINE": "1",
            "UV_PYTHON_DOWNLOADS": "never",
        }

    def _provide_tools(self) -> None:
        """Put what a reader is told to have on the PATH, and nothing of this test's environment."""
        folder = self.home / "tools"
        folder.mkdir()
        scripts = Path(sys.executable).parent
        programs = {name: scripts / name for name in TOOLS} | {"python3": self.python}
        for name, program in programs.items():
            shim = folder / name
            shim.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n', encoding="utf-8")
            shim.chmod(0o755)


def unseen(expected: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the expected lines that do not appear in this order; `...` stands for anything."""
    rest = iter(lines)
    return [line for line in expected if not any(_form(line).fullmatch(seen) for seen in rest)]


def _form(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\s*")


def launch_commands(block: Block) -> Iterator[list[str]]:
    """Return every launch command of a client's configuration."""
    if block.language == "json":
        yield from _commands(json.loads(block.text))
    elif block.language == "toml":
        yield from _commands(tomllib.loads(block.text))


def _commands(value: object) -> Iterator[list[str]]:
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _commands(item)
    elif isinstance(value, dict):
        table = cast("dict[str, object]", value)
        command = table.get("command")
        if isinstance(command, list):
            yield [str(part) for part in cast("list[object]", command)]
        elif isinstance(command, str):
            yield [command, *(str(part) for part in cast("list[object]", table.get("args", [])))]
        for item in table.values():
            yield from _commands(item)
