#!/usr/bin/env python3
"""Build a committed project twice under conditions that should not matter, and compare.

Needs Python 3.10 or later, git, and the `build` package in the Python that runs this
(`python -m pip install build`). The project is cloned: the checkout is never touched,
and what is not committed is not built. It runs the project's own build code.

The two builds differ in folder, umask, time zone, file times, hash seed, locale and, unless
--keep-epoch is given, in SOURCE_DATE_EPOCH being set to the commit's time for both.

Examples:
    build_twice.py .
    build_twice.py . --commit v1.2.0 --out /tmp/rebuilt
    build_twice.py . --no-isolation

Exit codes: 0 all files identical; 1 they differ; 2 wrong usage; 3 a build failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMPARE = Path(__file__).resolve().with_name("compare_archives.py")
CONDITIONS: dict[str, tuple[str, int, float, dict[str, str]]] = {
    "first": ("a", 0o022, 1_600_000_000, {"TZ": "UTC", "PYTHONHASHSEED": "0", "LC_ALL": "C"}),
    "second": (
        "b with space/ünïcode/deeper",
        0o077,
        1_500_000_000,
        {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8"},
    ),
}
"""Name: folder, umask, time of every file, environment."""


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a program and give its output; raises CalledProcessError."""
    done = subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def clone(project: Path, commit: str, folder: Path, umask: int, when: float) -> None:
    """Clone one commit under a umask, and give every file the same odd time."""
    old = os.umask(umask)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        run("git", "clone", "--quiet", "--no-checkout", str(project), str(folder))
        run("git", "checkout", "--quiet", "--detach", commit, cwd=folder)
    finally:
        os.umask(old)
    for path in folder.rglob("*"):
        if ".git" not in path.relative_to(folder).parts and not path.is_symlink():
            os.utime(path, (when, when))


def build(
    folder: Path, out: Path, umask: int, environment: dict[str, str], extra: list[str]
) -> None:
    """Build sdist and wheel from the checkout; raises CalledProcessError with the log."""
    command = [sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", str(out), *extra]
    old = os.umask(umask)
    try:
        subprocess.run(
            [*command, str(folder)],
            check=True,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    finally:
        os.umask(old)


def compare(first: Path, second: Path) -> bool:
    """Compare what both builds gave, file by file; the reasons are printed."""
    same = True
    names = [sorted(path.name for path in folder.iterdir()) for folder in (first, second)]
    if names[0] != names[1]:
        print(f"other files: {names[0]} and {names[1]}")
        return False
    for name in names[0]:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, str(COMPARE), str(first / name), str(second / name)]
        same &= subprocess.run(command, check=False).returncode == 0
    return same


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Build a committed project twice under different conditions, and compare.",
        epilog="Exit codes: 0 identical; 1 different; 2 usage; 3 a build failed.",
    )
    parser.add_argument("project", type=Path, help="a git checkout with a pyproject.toml")
    parser.add_argument("--commit", default="HEAD", help="what to build (default: HEAD)")
    parser.add_argument("--out", type=Path, help="keep the builds here, in first/ and second/")
    parser.add_argument("--keep-epoch", action="store_true", help="leave SOURCE_DATE_EPOCH alone")
    parser.add_argument("--no-isolation", action="store_true", help="use the installed backend")
    return parser.parse_args(arguments)


def both_builds(options: argparse.Namespace, commit: str, work: Path, out: Path) -> None:
    """Do the two builds; raises CalledProcessError."""
    project = options.project.resolve()
    extra = ["--no-isolation"] if options.no_isolation else []
    epoch = run("git", "show", "-s", "--format=%ct", commit, cwd=project)
    for name, (folder, umask, when, environment) in CONDITIONS.items():
        here = work / folder / "project"
        clone(project, commit, here, umask, when)
        if not options.keep_epoch:
            environment = {**environment, "SOURCE_DATE_EPOCH": epoch}
        print(f"building {name}: umask {umask:03o}, {environment}", flush=True)
        (out / name).mkdir(parents=True, exist_ok=True)
        build(here, out / name, umask, environment, extra)


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    options = parse(arguments)
    try:
        commit = run(
            "git", "rev-parse", "--verify", options.commit + "^{commit}", cwd=options.project
        )
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"not a git checkout, or no such commit: {error}", file=sys.stderr)
        return 2
    print(f"commit {commit}")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        out = work / "out" if options.out is None else options.out.resolve()
        try:
            both_builds(options, commit, work, out)
        except subprocess.CalledProcessError as error:
            print(f"failed: {error.cmd}\n{error.stdout or error.stderr}", file=sys.stderr)
            return 3
        same = compare(out / "first", out / "second")
    print(f"\n{'reproducible under these conditions' if same else 'NOT reproducible'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
