"""Edge: a folder for one variation: clone, change, build, and look at what came out."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from skills_bundle.bundle import receipt
from tests.reproducible.rows import NO_BUNDLE, Seen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.bundle.receipt import BuildReceipt
    from tests.reproducible.subjects import Subject

PATIENCE: Final = 600
"""Seconds that one command may take."""
NOT_OURS: Final = frozenset({
    "VIRTUAL_ENV", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "PYTHONPATH", "PYTHONWARNDEFAULTENCODING",
    "SOURCE_DATE_EPOCH", "LC_ALL", "LANG", "TZ", "PYTHONHASHSEED",
})  # fmt: skip
"""Variables of the session that would be told to builds."""


PLAIN: Final = "environments/plain"
"""Where the environment of plain builds is, in the shared folder."""


class FailedError(Exception):
    """A build ended with an error; says what was said."""


def environment(more: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return the variables of a plain build, changed; None takes one away."""
    plain = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    plain |= {"LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    for name, value in (more or {}).items():
        plain.pop(name, None)
        if value is not None:
            plain[name] = value
    return plain


@dataclass(frozen=True, slots=True)
class Room:
    """Where one variation of one project is tried.

    Attributes:
        subject: The project.
        folder: Nothing else uses it.
        shared: A folder that all rooms share, for what is made once.
    """

    subject: Subject
    folder: Path
    shared: Path

    @property
    def out(self) -> Path:
        """Where archives go."""
        return self.folder / "out"

    @property
    def python(self) -> str:
        """The interpreter of plain builds; before there is one, the running one."""
        plain = python_of(self.shared / PLAIN)
        return plain if Path(plain).exists() else sys.executable

    def clone(self, place: str = "project", *options: str) -> Path:
        """Clone the project into a folder below this one."""
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        git(self.folder, "clone", "--quiet", *options, str(self.subject.origin), str(target))
        return target

    def build(
        self,
        project: Path,
        variables: Mapping[str, str | None] | None = None,
        *,
        prefix: Sequence[str] = (),
        python: Sequence[str] = (),
        umask: int = 0o022,
    ) -> None:
        """Build both archives with hatchling alone, in the environment at hand.

        Args:
            project: A checkout or another folder with the project.
            variables: Of the environment; None takes one away.
            prefix: A command that runs the build.
            python: The interpreter, with options, if not that of all plain builds.
            umask: Of the build.

        Raises:
            FailedError: If it fails.
        """
        interpreter = python or (self.python,)
        command = [*prefix, *interpreter, "-m", "hatchling", "build", "-d", str(self.out)]
        self.run(command, project, variables, umask=umask)

    def run(
        self,
        command: Sequence[str | Path],
        folder: Path,
        variables: Mapping[str, str | None] | None = None,
        *,
        umask: int = 0o022,
    ) -> str:
        """Run a command that builds, and give what it said.

        Raises:
            FailedError: If it fails.
        """
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment(variables),
            umask=umask,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=PATIENCE,
            check=False,
        )
        if ran.returncode != 0:
            raise FailedError(ran.stdout)
        return ran.stdout

    def seen(self) -> list[Seen]:
        """Look at every archive that came out."""
        archives = [*self.out.rglob("*.whl"), *self.out.rglob("*.tar.gz")]
        return [self._look(path.name, path.read_bytes()) for path in sorted(archives)]

    def _look(self, name: str, data: bytes) -> Seen:
        kind: Literal["wheel", "sdist"] = "wheel" if name.endswith(".whl") else "sdist"
        found = members(data)
        said = receipt_of(found)
        commit = None if said is None else said.source.commit
        plain = self.subject.reference(commit, self.folder / "project")[kind]
        same = hashlib.sha256(data).digest() == hashlib.sha256(plain).digest()
        difference = "" if same else compare(found, members(plain))
        return Seen(
            kind=kind,
            receipt=_state(said),
            difference=difference,
            generator_only=difference.startswith(GENERATOR_ONLY),
        )


def python_of(place: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return str(place / "bin/python")


GENERATOR_ONLY: Final = "only the Generator line: "


def _state(said: BuildReceipt | None) -> str:
    if said is None:
        return NO_BUNDLE
    source = said.source
    return source.state if source.reason is None else f"{source.state}: {source.reason}"


def members(data: bytes) -> dict[str, bytes]:
    """Return the members of a wheel or sdist by path; an sdist's below its top folder."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        rows = ((info.name.partition("/")[2], archive.extractfile(info)) for info in archive)
        return {name: file.read() for name, file in rows if file is not None}


def receipt_of(found: Mapping[str, bytes]) -> BuildReceipt | None:
    """Read the receipt among an archive's members."""
    for name, data in found.items():
        if name == "build-receipt.json" or name.endswith("/.agents/build-receipt.json"):
            return receipt.parse(data)
    return None


def compare(found: Mapping[str, bytes], plain: Mapping[str, bytes]) -> str:
    """Return which members differ."""
    names = sorted(
        name for name in found.keys() | plain.keys() if found.get(name) != plain.get(name)
    )
    if not names:
        return "other: the archive's form"
    if {name.rpartition("/")[2] for name in names} == {"WHEEL", "RECORD"}:
        (name,) = (name for name in names if name.endswith("/WHEEL"))
        ours, theirs = found[name].splitlines(), plain[name].splitlines()
        lines = [line for line in ours if line not in theirs]
        if len(ours) == len(theirs) and len(lines) == 1 and lines[0].startswith(b"Generator: "):
            return GENERATOR_ONLY + lines[0].decode().removeprefix("Generator: ")
    told = [name.rpartition("/")[2] for name in names if not name.endswith("RECORD")]
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    return f"other: {', '.join(told[:3])}{more}"


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular, at a fixed time.

    Raises:
        CalledProcessError: If it fails.
    """
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (
            ("NAME", "Ada"),
            ("EMAIL", "ada@example.org"),
            ("DATE", "2026-01-02T03:04:05Z"),
        )
    }
    options = ("-c", "safe.directory=*", "-c", "protocol.file.allow=always")
    return subprocess.run(
        ["git", *options, *arguments],
        cwd=folder,
        env={**environment(who), "GIT_CONFIG_GLOBAL": os.devnull},
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
