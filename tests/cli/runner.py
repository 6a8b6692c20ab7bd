"""Runs the program: in this process where speed counts, in a real one where the process does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills_bundle.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ARGUMENTS = ("-P", "-m", "skills_bundle")
PROGRAM = (sys.executable, *ARGUMENTS)
"""What starts the program as a process of its own."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run gave."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Return standard output as the one JSON document it has to be."""
        return json.loads(self.stdout)


def call(*arguments: str, environ: Mapping[str, str] | None = None, encoding: str = "utf-8") -> Ran:
    """Run the program in this process, its output going to pipes of the given encoding."""
    out, err = io.BytesIO(), io.BytesIO()
    stdout = io.TextIOWrapper(out, encoding=encoding, newline="")
    stderr = io.TextIOWrapper(err, encoding=encoding, newline="", errors="backslashreplace")
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = run(arguments, environ or {})
    stdout.flush()
    stderr.flush()
    return Ran(code, out.getvalue().decode(encoding), err.getvalue().decode(encoding))


def spawn(
    *arguments: str,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Ran:
    """Run the program as a process of its own, by this interpreter."""
    done = subprocess.run(
        [python, *ARGUMENTS, *arguments],
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_terminal(
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    typed: bytes = b"",
    python: str = sys.executable,
) -> Ran:
    """Run the program on a terminal of 80 columns; all it shows is given as standard output.

    Args:
        arguments: The program's.
        environ: Added to this process's environment; NO_COLOR is not inherited.
        typed: What the user has typed already.
        python: The interpreter.
    """
    # Only POSIX has pseudo-terminals; whoever calls this says so.
    import pty  # noqa: PLC0415

    master, slave = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env = {**inherited, "TERM": "xterm-256color", "COLUMNS": "80", **(environ or {})}
    os.write(master, typed)
    with subprocess.Popen(
        [python, *ARGUMENTS, *arguments], env=env, stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        shown = _drain(master)
    os.close(master)
    return Ran(process.returncode, shown.decode(), "")


def _drain(descriptor: int) -> bytes:
    """Read a terminal until its last writer is gone, which Linux reports as EIO."""
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)
