"""Decision: how each build front end is asked for one archive, and in what environment.

The command line is an argument list; no shell reads it. The environment is the caller's without
what would change the archive: a rebuild has to depend on the commit and the build's requirements,
not on whose terminal it runs in. What only says where packages are fetched from stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    """Say what of an order a front end does not know, as the option that asks for it."""
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
    """Give the argument list that asks for one archive.

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
    """Give the environment of a front end.

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
    """Give the option of a command that its front end is too old for; None if it knew all.

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
    """Tell whether a failed build's log speaks of requirements that could not be had."""
    return LACKING.search(log) is not None
