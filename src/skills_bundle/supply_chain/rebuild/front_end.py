"""Edge: build front ends: the command and environment for one archive, run in a process group.

The command line is an argument list; no shell reads it. The environment is the caller's without
variables that would change the archive: a rebuild must depend on the commit and its build
requirements, not on the terminal it runs in. Variables that only select where packages come from
are kept.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

from skills_bundle.errors import Problem, SkillsBundleError
from skills_bundle.supply_chain import limits

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from skills_bundle.archives.model import ArchiveKind


FrontEnd = Literal["uv", "build", "pip", "hatch"]
FRONT_ENDS: Final[tuple[FrontEnd, ...]] = ("uv", "build", "pip", "hatch")
"""In the order in which the first that is there is taken."""

DROPPED: Final = re.compile(
    r"SOURCE_DATE_EPOCH|VIRTUAL_ENV(_PROMPT)?|CONDA_PREFIX|PYTHON\w*|GIT_\w+|HATCH_\w+|PIP_\w+|UV_\w+"
    r"|SETUPTOOLS_\w+|PBR_VERSION|DIST_EXTRA_CONFIG|CFLAGS|CXXFLAGS|LDFLAGS|ARCHFLAGS",
    re.IGNORECASE,
)
"""Variables that change what a build gives, or which Python it takes."""
KEPT: Final = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY"
    r"|CACHE_DIR|NO_CACHE_DIR|CONFIG_FILE|RETRIES|DEFAULT_TIMEOUT|TIMEOUT|KEYRING_PROVIDER"
    r"|DISABLE_PIP_VERSION_CHECK)"
    r"|UV_((DEFAULT_)?INDEX(_\w+)?|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|OFFLINE|CACHE_DIR|NO_CACHE"
    r"|NO_CONFIG|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|HTTP_\w+|KEYRING_PROVIDER|LINK_MODE"
    r"|PYTHON_(DOWNLOADS|INSTALL_DIR|PREFERENCE))",
    re.IGNORECASE,
)
"""Of those, what only says where packages are taken from, and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a front end is asked for.

    Attributes:
        kind: Of archive.
        project: The project's folder.
        out: The folder for the archive.
        python: The interpreter to build with, None for the one that runs us.
        isolated: Whether the build gets an environment of its own.
        constraint: A file of constraints for what the build requires, or None.
    """

    kind: ArchiveKind
    project: str
    out: str
    python: str | None = None
    isolated: bool = True
    constraint: str | None = None


def problems(front_end: FrontEnd, order: Order) -> tuple[Problem, ...]:
    """Return what of an order a front end does not know, as the option that asks for it."""
    return tuple(
        Problem(code="front_end_option", message=f"{front_end} {text}", path=option)
        for option, text in _unknown(front_end, order)
    )


def _unknown(front_end: FrontEnd, order: Order) -> Iterator[tuple[str, str]]:
    if front_end == "pip" and order.kind == "sdist":
        yield "--front-end", "builds wheels only"
    if front_end != "hatch":
        return
    if not order.isolated:
        yield "--no-isolation", "always builds in an environment of its own"
    if order.constraint is not None:
        yield "--build-constraint", "takes no constraints"
    if order.python is not None:
        yield "--python", "takes no interpreter"


def command(
    front_end: FrontEnd, program: Sequence[str], order: Order, python: str
) -> tuple[str, ...]:
    """Return the argument list that asks for one archive.

    Args:
        front_end: Which.
        program: What starts it.
        order: What is asked for; `problems` has nothing to say of it.
        python: The interpreter to build with.
    """
    if front_end == "hatch":
        return (*program, "build", "--target", order.kind, order.out)
    words: dict[FrontEnd, tuple[tuple[str, ...], str, str]] = {
        "uv": (
            ("build", f"--{order.kind}", "--python", python, "--out-dir", order.out),
            "--no-build-isolation",
            "--build-constraints",
        ),
        "build": (
            (f"--{order.kind}", "--outdir", order.out),
            "--no-isolation",
            "--dependency-constraints-txt",
        ),
        "pip": (
            ("wheel", "--no-deps", "--no-cache-dir", "--wheel-dir", order.out),
            "--no-build-isolation",
            "--build-constraint",
        ),
    }
    given, without_isolation, constrained = words[front_end]
    more: tuple[str, ...] = () if order.isolated else (without_isolation,)
    if order.constraint is not None:
        more += (constrained, order.constraint)
    return (*program, *given, *more, order.project)


def environment(environ: Mapping[str, str], temporary: str) -> dict[str, str]:
    """Return the environment of a front end.

    Args:
        environ: The caller's.
        temporary: Where temporary files go, so that they are removed with the rest.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if KEPT.fullmatch(name) or not DROPPED.fullmatch(name)
    }
    return {**kept, "TMPDIR": temporary, "TEMP": temporary, "TMP": temporary}


_UNKNOWN_OPTION: Final = re.compile(
    r"(?:no such option:|unrecognized arguments:|unexpected argument '?)\s*(--[a-z-]+)"
)
"""What pip, pypa's build and uv say of an option that only newer versions have."""


def unknown_option(log: str, words: Sequence[str]) -> str | None:
    """Return the option of a command that its front end is too old for; None if it knew all.

    Args:
        log: What it said.
        words: The command.
    """
    found = _UNKNOWN_OPTION.search(log)
    return found[1] if found is not None and found[1] in words else None


LACKING: Final = re.compile(
    r"no matching distribution|could not find a version|no solution found|not found in the (cache|"
    r"package registry)|failed to (fetch|download)|network (connectivity|is unreachable)|offline"
    r"|name resolution|dns error|connection (refused|error|broken)|newconnectionerror"
    r"|max retries exceeded|missing dependencies|modulenotfounderror|cannot import '?hatchling"
    r"|backendunavailable|'pip', .*'install', .* returned non-zero",
    re.IGNORECASE,
)
"""What front ends say when something that the build requires cannot be had."""


def lacks_requirements(log: str) -> bool:
    """Return whether a failed build's log speaks of requirements that could not be had."""
    return LACKING.search(log) is not None


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
    able: list[FrontEnd] = [one for one in FRONT_ENDS if not problems(one, order)]
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
    words = command(chosen.name, chosen.program, order, python)
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
    option = unknown_option("\n".join(log), words)
    if option is not None:
        message = (
            f"this {name} is too old to know {option}: upgrade it where it is installed "
            f"(`python -m pip install --upgrade {name}`), or name another --front-end"
        )
        raise BuildFailedError("front_end_option", message, log)


def _failed(name: str, status: int, log: Sequence[str], order: Order) -> BuildFailedError:
    if lacks_requirements("\n".join(log)):
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
    """Return the exit status, or None if it took too long."""
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
    """Return the lines at the end of a log; more than are shown, since the cause may be above.

    None of one that is gone: the build could do as it pleased.
    """
    if not log.is_file():
        return ()
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limits.REBUILD_LOG_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return tuple(line for line in lines if line.strip())
