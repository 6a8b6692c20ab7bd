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
"""In order of preference; the first installed one is used."""

DROPPED: Final = re.compile(
    r"SOURCE_DATE_EPOCH|VIRTUAL_ENV(_PROMPT)?|CONDA_PREFIX|PYTHON\w*|GIT_\w+|HATCH_\w+|PIP_\w+|UV_\w+"
    r"|SETUPTOOLS_\w+|PBR_VERSION|DIST_EXTRA_CONFIG|CFLAGS|CXXFLAGS|LDFLAGS|ARCHFLAGS",
    re.IGNORECASE,
)
"""Variables that change the result of a build, or the Python it uses."""
KEPT: Final = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY"
    r"|CACHE_DIR|NO_CACHE_DIR|CONFIG_FILE|RETRIES|DEFAULT_TIMEOUT|TIMEOUT|KEYRING_PROVIDER"
    r"|DISABLE_PIP_VERSION_CHECK)"
    r"|UV_((DEFAULT_)?INDEX(_\w+)?|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|OFFLINE|CACHE_DIR|NO_CACHE"
    r"|NO_CONFIG|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|HTTP_\w+|KEYRING_PROVIDER|LINK_MODE"
    r"|PYTHON_(DOWNLOADS|INSTALL_DIR|PREFERENCE))",
    re.IGNORECASE,
)
"""Of those, variables that only select where packages come from, and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a front end builds, and how.

    Attributes:
        kind: Of archive.
        project: The project's folder.
        out: The folder for the archive.
        python: The interpreter to build with; None for the current one.
        isolated: Whether to build in a separate environment.
        constraint: A file of constraints for the build requirements, or None.
    """

    kind: ArchiveKind
    project: str
    out: str
    python: str | None = None
    isolated: bool = True
    constraint: str | None = None


def problems(front_end: FrontEnd, order: Order) -> tuple[Problem, ...]:
    """Return a problem for each option of an order that a front end does not support."""
    return tuple(
        Problem(code="front_end_option", message=f"{front_end} {text}", path=option)
        for option, text in _unsupported(front_end, order)
    )


def _unsupported(front_end: FrontEnd, order: Order) -> Iterator[tuple[str, str]]:
    if front_end == "pip" and order.kind == "sdist":
        yield "--front-end", "builds wheels only"
    if front_end != "hatch":
        return
    if not order.isolated:
        yield "--no-isolation", "always builds in a separate environment"
    if order.constraint is not None:
        yield "--build-constraint", "does not support constraints"
    if order.python is not None:
        yield "--python", "does not support another interpreter"


def command(
    front_end: FrontEnd, program: Sequence[str], order: Order, python: str
) -> tuple[str, ...]:
    """Return the argument list that builds one archive.

    Args:
        front_end: The front end.
        program: The arguments that start it.
        order: What to build; without `problems`.
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
        temporary: The folder for temporary files, which is removed with the rest.
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
"""How pip, pypa's build and uv report an option that only newer versions have."""


def unknown_option(log: str, words: Sequence[str]) -> str | None:
    """Return the option of a command that its front end is too old for, or None.

    Args:
        log: Its output.
        words: The command.
    """
    found = _UNKNOWN_OPTION.search(log)
    return found[1] if found is not None and found[1] in words else None


UNAVAILABLE: Final = re.compile(
    r"no matching distribution|could not find a version|no solution found|not found in the (cache|"
    r"package registry)|failed to (fetch|download)|network (connectivity|is unreachable)|offline"
    r"|name resolution|dns error|connection (refused|error|broken)|newconnectionerror"
    r"|max retries exceeded|missing dependencies|modulenotfounderror|cannot import '?hatchling"
    r"|backendunavailable|'pip', .*'install', .* returned non-zero",
    re.IGNORECASE,
)
"""How front ends report that a build requirement is unavailable."""


def lacks_requirements(log: str) -> bool:
    """Return whether a failed build's log reports unavailable requirements."""
    return UNAVAILABLE.search(log) is not None


PROBE_SECONDS: Final = 30.0
"""Seconds that an interpreter may take to import a front end."""
ENDINGS: Final = {"wheel": "*.whl", "sdist": "*.tar.gz"}


class BuildFailedError(SkillsBundleError):
    """A front end that built no archive; the problem is the cause."""

    exit_code = 3

    def __init__(self, code: str, message: str, log: Sequence[str] = ()) -> None:
        """Keep the cause and the last lines of the log."""
        super().__init__(message, (Problem(code=code, message=message),))
        self.log = tuple(log[-limits.REBUILD_LOG_LINES :])


@dataclass(frozen=True, slots=True)
class Chosen:
    """An installed front end.

    Attributes:
        name: The front end.
        program: The arguments that start it.
    """

    name: FrontEnd
    program: tuple[str, ...]


def choose(wanted: FrontEnd | None, order: Order, environ: Mapping[str, str]) -> Chosen | None:
    """Find a front end.

    Args:
        wanted: The front end that the user named, or None for the first that is installed and
            supports the order.
        order: What to build.
        environ: Its environment; PATH locates programs.
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
    # In an empty folder, so that nothing is imported from the current one.
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
    """Find a program beside the current interpreter or in PATH; skip relative folders."""
    folders = [str(Path(sys.executable).parent), *path.split(os.pathsep)]
    kept = os.pathsep.join(one for one in folders if Path(one).is_absolute())
    found = shutil.which(name, path=kept)
    return None if found is None else (found,)


def build(chosen: Chosen, order: Order, environ: Mapping[str, str], seconds: float) -> Path:
    """Run a front end and return the path of the archive.

    Args:
        chosen: The front end.
        order: What to build.
        environ: Its environment.
        seconds: The time limit.

    Raises:
        BuildFailedError: If it fails, exceeds the limit, or builds no archive or several.
    """
    python = order.python or sys.executable
    words = command(chosen.name, chosen.program, order, python)
    log = Path(order.out, "build.log")
    with log.open("wb") as file:
        status = _run(words, order, environ, file, seconds)
    lines = tail(log)
    if status is None:
        message = f"{chosen.name} was stopped after {seconds:g} seconds; set a higher --timeout"
        raise BuildFailedError("build_timed_out", message, lines)
    if status != 0:
        _refuse_option(chosen.name, words, lines)
        raise _failed(chosen.name, status, lines, order)
    found = sorted(Path(order.out).glob(ENDINGS[order.kind]))
    if len(found) != 1:
        message = f"{chosen.name} succeeded, but built {len(found)} archives of this kind"
        raise BuildFailedError("no_archive", message, lines)
    return found[0]


def _refuse_option(name: str, words: Sequence[str], log: Sequence[str]) -> None:
    """Raise a specific error if the front end is too old for an option."""
    option = unknown_option("\n".join(log), words)
    if option is not None:
        message = (
            f"this {name} is too old to know {option}; upgrade it in its environment "
            f"(`python -m pip install --upgrade {name}`), or name another --front-end"
        )
        raise BuildFailedError("front_end_option", message, log)


def _failed(name: str, status: int, log: Sequence[str], order: Order) -> BuildFailedError:
    if lacks_requirements("\n".join(log)):
        said = next((line.strip() for line in log if UNAVAILABLE.search(line)), "")
        remedy = (
            "install them and use --no-isolation, which builds with the installed packages"
            if order.isolated
            else "install them into the build environment, or omit --no-isolation"
        )
        message = f"{name} could not get the build requirements ({said}); {remedy}"
        return BuildFailedError("requirements_unavailable", message, log)
    return BuildFailedError("build_failed", f"{name} failed with status {status}", log)


def _run(
    words: Sequence[str],
    order: Order,
    environ: Mapping[str, str],
    log: IO[bytes],
    seconds: float,
) -> int | None:
    """Return the exit status, or None after the time limit."""
    with (
        subprocess.Popen(  # noqa: S603 - an argument list; running the commit's code is the purpose
            words,
            cwd=order.project,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the whole process group can be stopped
        ) as process,
        _stopping(process),
    ):
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None


@contextmanager
def _stopping(process: subprocess.Popen[bytes]) -> Generator[None]:
    """Stop a process and its group afterwards, including what it left running."""
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
    """Return the lines at the end of a log; more than are shown, because the cause may be above.

    A log that the build removed has no lines.
    """
    if not log.is_file():
        return ()
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limits.REBUILD_LOG_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return tuple(line for line in _without_frames(lines) if line.strip())


def _without_frames(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a log without the frames of Python tracebacks, which hide the cause."""
    inside = False
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            inside = True
        elif not inside or not line.startswith((" ", "\t")):
            inside = False
            yield line
