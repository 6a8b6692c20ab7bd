"""Edge: turn real collections of skills into wheels, from `init` to a server, step by step.

Usage: python benchmarks/adopt_collection.py CLONE[=INIT-OPTION,...] [CLONE ...]

Each argument is a git checkout, which is cloned and not touched. In the copy: `init`, then whatever
the lock refuses is left out by a second `init --exclude`; commit, build, install into an
environment of its own, `verify`, and `mcp check`. What each step said is printed, and what the
collection needed. Our own wheel is built from this checkout's commit first. Uses the package index,
and uv.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
AUTHOR = ("-c", "user.name=Reader", "-c", "user.email=reader@acme.example")


class StepError(Exception):
    """A step that did not go through; the rest of its collection is left out."""


def run(*command: str | Path, cwd: Path, ok: tuple[int, ...] = (0,)) -> str:
    """Run a command and give what it printed."""
    ran = subprocess.run(
        command, cwd=cwd, capture_output=True, check=False, encoding="utf-8", env=ENVIRONMENT
    )
    if ran.returncode not in ok:
        words = " ".join(map(str, command))
        raise StepError(f"{words}: exit {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return ran.stdout


def our_wheel(out: Path) -> Path:
    """Build our own wheel from the commit of this checkout."""
    run("git", "clone", "--quiet", ROOT, out / "ours", cwd=out)
    run("uv", "build", "--quiet", "--wheel", "--out-dir", out / "dist", out / "ours", cwd=out)
    return next((out / "dist").glob("*.whl"))


class Adoption:
    """One collection on its way.

    Args:
        clone: The checkout to copy.
        options: Options for `init`.
        room: An empty folder.
        wheel: Ours.
    """

    def __init__(self, clone: Path, options: list[str], room: Path, wheel: Path) -> None:
        """Copy the clone, and install our command."""
        self.copy, self.options, self.room = room / clone.name, options, room
        run("git", "clone", "--quiet", clone, self.copy, cwd=room)
        self.tools = self._environment("tools", wheel)
        self.wheel = wheel

    def _environment(self, name: str, *wheels: Path) -> Path:
        place = self.room / name
        run("uv", "venv", "--quiet", place, cwd=self.room)
        python = place / "bin" / "python"
        run("uv", "pip", "install", "--quiet", "--python", python, *wheels, cwd=self.room)
        return place / "bin" / "skills-bundle"

    def ask(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> Any:  # noqa: ANN401 - JSON
        """Ask our command for a JSON document."""
        return json.loads(run(self.tools, *arguments, "--json", cwd=self.copy, ok=ok))

    def adopt(self) -> None:
        """Go through every step."""
        commit = run("git", "rev-parse", "HEAD", cwd=self.copy).strip()
        print(f"   commit    {commit}")
        found = self.initialised()
        run("git", "add", ".", cwd=self.copy)
        run("git", *AUTHOR, "commit", "--quiet", "-m", "Ship our skills", cwd=self.copy)
        start = time.perf_counter()
        run("uv", "build", "--out-dir", self.room / "dist", self.copy, cwd=self.copy)
        (made,) = (self.room / "dist").glob("*.whl")
        size = made.stat().st_size / 1024 / 1024
        print(f"   build     {made.name}, {size:.1f} MiB, {time.perf_counter() - start:.0f} s")
        print(f"   receipt   {receipt_state(made)}")
        program = self._environment("installed", self.wheel, made)
        option = ("--collection", found["collection"], "--json")
        verified = json.loads(run(program, "verify", *option, cwd=self.room, ok=(0, 1, 3)))
        if "error" in verified:
            raise StepError(verified["error"]["message"])
        print(f"   verify    {verified['verdict']}, {len(verified['files']):,} files")
        served = json.loads(run(program, "mcp", "check", *option, cwd=self.room, ok=(0, 1, 3)))
        took = sum(step["milliseconds"] for step in served["steps"])
        print(f"   serve     {'works' if served['ok'] else served['problems']}, {took:,.0f} ms")

    def initialised(self) -> dict[str, Any]:
        """Run `init`, excluding what is refused."""
        found = self.ask("init", *self.options, ok=(0, 1))
        print(f"   init      {found['found']} skills in {found['skills_folder']}")
        if found["left_out"]:
            print(f"   elsewhere {', '.join(found['left_out'])}")
        if "error" not in found:
            locked = self.ask("lock", "--check")
        else:
            locked = self.ask("lock", "--check", ok=(1,))
            print_refusals(locked)
            excluded = [word for path in locked["refused"] for word in ("--exclude", path)]
            found = self.ask("init", *self.options, *excluded)
            locked = self.ask("lock", "--check")
        codes = Counter(row["code"] for row in locked["diagnostics"])
        print(f"   lock      {locked['good']} of {locked['found']}, {locked['files']:,} files")
        print(f"   warnings  {dict(codes.most_common())}")
        return found


def print_refusals(locked: dict[str, Any]) -> None:
    """Print what was refused, and why."""
    rows = [row for row in locked["diagnostics"] if row["weight"] == "refused"]
    codes = Counter(row["code"] for row in rows)
    print(f"   refused   {len(locked['refused'])}: {dict(codes.most_common())}")
    for row in rows[:12]:
        print(f"             {row['path']}:{row['line'] or ''} {row['code']}: {row['message']}")


def receipt_state(wheel: Path) -> str:
    """Return the state that a wheel's receipt records."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(row for row in archive.namelist() if row.endswith("build-receipt.json"))
        source = json.loads(archive.read(name))["source"]
    return f"{source['state']}, commit {source['commit']}"


def main(arguments: list[str]) -> int:
    """Adopt each collection.

    Returns:
        The number of collections that did not get to the end.
    """
    failed = 0
    with tempfile.TemporaryDirectory(prefix="adopt-") as place:
        room = Path(place)
        wheel = our_wheel(room)
        ENVIRONMENT["UV_FIND_LINKS"] = str(wheel.parent)
        for number, argument in enumerate(arguments):
            clone, _, options = argument.partition("=")
            print(f"\n== {Path(clone).resolve()}")
            own = room / str(number)
            own.mkdir()
            try:
                Adoption(
                    Path(clone).resolve(), [o for o in options.split(",") if o], own, wheel
                ).adopt()
            except StepError as error:
                failed += 1
                print(f"   FAILED    {error}")
    return failed


ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONWARNDEFAULTENCODING"}
}
"""What every command is given; no checkout of ours may answer for the installed one."""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
