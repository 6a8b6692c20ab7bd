"""Where the collection lies, and two ways to run a script of it.

`run` calls the script's own `main` in this process, which is thirty times faster; `start` makes a
process of its own, as a stranger would.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import skills_ref  # pyright: ignore[reportMissingTypeStubs] -- it is typed, without saying so

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT: Final = Path(__file__).resolve().parents[2]
SKILLS: Final = PROJECT / "skills"
NAMES: Final = (
    "debugging-an-mcp-server",
    "publishing-skills-as-a-wheel",
    "reproducible-python-wheels",
    "reviewing-agent-skills",
    "setting-up-an-mcp-client",
    "skill-descriptions-that-get-found",
    "verifying-skill-provenance",
    "writing-agent-skills",
)
SCRIPTS: Final = tuple(sorted(SKILLS.glob("*/scripts/*.py")))
MARKDOWN: Final = tuple(sorted(SKILLS.rglob("*.md")))
SCRIPT_SECONDS: Final = 60
"""Longest any script may run before a test gives it up."""

_FENCE: Final = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=indent)```", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of a script gave."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Return standard output as the one JSON document it has to be."""
        return json.loads(self.stdout)


def _path(script: str) -> Path:
    """Return the file of `SKILL/NAME.py`."""
    skill, name = script.split("/")
    return SKILLS / skill / "scripts" / name


@cache
def _main(script: str) -> Callable[[list[str]], int]:
    """Load a script once, leaving no bytecode beside it, and give its `main`."""
    name = re.sub(r"\W", "_", script)
    spec = importlib.util.spec_from_file_location(name, _path(script))
    if spec is None or spec.loader is None:
        raise AssertionError(script)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while it is being loaded.
    sys.modules[name] = module
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module.main


def run(script: str, *arguments: str | Path) -> Ran:
    """Call the `main` of `SKILL/NAME.py`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = _main(script)([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return Ran(code, out.getvalue(), err.getvalue())


def start(script: str, *arguments: str | Path, cwd: Path | None = None) -> Ran:
    """Run `SKILL/NAME.py` as a process: no path of ours, no bytecode left behind."""
    command = [sys.executable, "-I", "-B", _path(script), *arguments]
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=SCRIPT_SECONDS,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def reference_problems(skill: Path) -> list[str]:
    """Return what the Agent Skills specification's own validator says."""
    return skills_ref.validate(skill)


def reference_description(skill: Path) -> str:
    """Return the description as the specification's own reader reads it."""
    return skills_ref.read_properties(skill).description


def fences(page: Path, kind: str) -> Iterator[str]:
    """Return the fenced blocks of one language in a page, without their indentation."""
    for match in _FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["kind"] == kind:
            yield re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)


def page_id(page: Path) -> str:
    """Name a page in a test's name."""
    return page.relative_to(SKILLS).as_posix()
