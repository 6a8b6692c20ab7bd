"""Edge: a front end found and run, and its group of processes ended again, whatever happens.

What a build starts in a session of its own leaves that group; nobody can end it without help from
the system.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.rebuild import front_end as front_ends

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from skills_bundle.supply_chain.rebuild.front_end import FrontEnd, Order

PROBE_SECONDS: Final = 30.0
"""Seconds in which an interpreter has to say whether it has a module."""
ENDINGS: Final = {"wheel": "*.whl", "sdist": "*.tar.gz"}


class BuildFailedError(SkillsBundleError):
    """A front end that gave no archive; the last problem is why."""

    exit_code = 3

    def __init__(self, code: str, message: str, log: Sequence[str] = ()) -> None:
        """Keep the last lines of its log beside the cause."""
        super().__init__(message, (Problem(code=code, message=message),))
        self.log = tuple(log[-limits.REBUILD_LOG_LINES :])


@dataclass(frozen=True, slots=True)
class Chosen:
    """A front end that is there.

    Attributes:
        name: Which.
        program: What starts it.
    """

    name: FrontEnd
    program: tuple[str, ...]


def choose(wanted: FrontEnd | None, order: Order, environ: Mapping[str, str]) -> Chosen | None:
    """Find a front end.

    Args:
        wanted: The one that somebody named, or None for the first that is there and knows the
            order.
        order: What it will be asked for.
        environ: Its environment; where programs are looked for.
    """
    able: list[FrontEnd] = [
        one for one in front_ends.FRONT_ENDS if not front_ends.problems(one, order)
    ]
    names: list[FrontEnd] = able if wanted is None else [wanted]
    for name in names:
        program = _program(name, order, environ)
        if program is not None:
            return Chosen(name, program)
    return None


def _program(name: FrontEnd, order: Order, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    if name in {"uv", "hatch"}:
        return _in_path(name, environ.get("PATH", ""))
    python = order.python or sys.executable
    # From a folder that holds nothing to import by accident.
    probe = [python, "-c", f"import {name}.__main__"]
    with suppress(OSError, subprocess.TimeoutExpired):
        ran = subprocess.run(  # noqa: S603 - an argument list, the interpreter that was named
            probe,
            cwd=order.out,
            env=dict(environ),
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
        if ran.returncode == 0:
            return (python, "-m", name)
    return None


def _in_path(name: str, path: str) -> tuple[str, ...] | None:
    """Find a program beside our interpreter or in PATH; relative folders are the caller's."""
    folders = [str(Path(sys.executable).parent), *path.split(os.pathsep)]
    kept = os.pathsep.join(one for one in folders if Path(one).is_absolute())
    found = shutil.which(name, path=kept)
    return None if found is None else (found,)


def build(chosen: Chosen, order: Order, environ: Mapping[str, str], seconds: float) -> Path:
    """Run a front end and give the archive that it makes.

    Args:
        chosen: The front end.
        order: What it is asked for.
        environ: Its environment.
        seconds: How long it may take.

    Raises:
        BuildFailedError: If it fails, takes too long, or makes no archive or several.
    """
    python = order.python or sys.executable
    words = front_ends.command(chosen.name, chosen.program, order, python)
    log = Path(order.out, "build.log")
    with log.open("wb") as file:
        status = _run(words, order, environ, file, seconds)
    told = tail(log)
    if status is None:
        message = f"{chosen.name} was ended after {seconds:g} seconds; --timeout gives it longer"
        raise BuildFailedError("build_timed_out", message, told)
    if status != 0:
        _refuse_option(chosen.name, words, told)
        raise _failed(chosen.name, status, told, order)
    found = sorted(Path(order.out).glob(ENDINGS[order.kind]))
    if len(found) != 1:
        message = f"{chosen.name} succeeded and made {len(found)} archives of the kind"
        raise BuildFailedError("no_archive", message, told)
    return found[0]


def _refuse_option(name: str, words: Sequence[str], log: Sequence[str]) -> None:
    """Tell a front end that is too old from a build that fails."""
    option = front_ends.unknown_option("\n".join(log), words)
    if option is not None:
        message = (
            f"this {name} is too old to know {option}: upgrade it where it is installed "
            f"(`python -m pip install --upgrade {name}`), or name another --front-end"
        )
        raise BuildFailedError("front_end_option", message, log)


def _failed(name: str, status: int, log: Sequence[str], order: Order) -> BuildFailedError:
    if front_ends.lacks_requirements("\n".join(log)):
        remedy = (
            "install them and use --no-isolation, which builds with what is installed here"
            if order.isolated
            else "install them into the environment that builds, or leave --no-isolation out"
        )
        message = f"{name} cannot have what the build requires (status {status}); {remedy}"
        return BuildFailedError("requirements_unavailable", message, log)
    return BuildFailedError("build_failed", f"{name} ended with status {status}", log)


def _run(
    words: Sequence[str],
    order: Order,
    environ: Mapping[str, str],
    log: IO[bytes],
    seconds: float,
) -> int | None:
    """Give the exit status, or None if it took too long."""
    with (
        subprocess.Popen(  # noqa: S603 - an argument list; running the commit's code is the purpose
            words,
            cwd=order.project,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, which can be ended as a whole
        ) as process,
        _ended(process),
    ):
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Generator[None]:
    """End a process and its group afterwards, also what a finished one left running."""
    try:
        yield
    finally:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=limits.REBUILD_STOP_SECONDS)
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def tail(log: Path) -> tuple[str, ...]:
    """Give the lines at the end of a log; more than are shown, since the cause may be above.

    None of one that is gone: the build could do as it pleased.
    """
    if not log.is_file():
        return ()
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limits.REBUILD_LOG_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return tuple(line for line in lines if line.strip())
