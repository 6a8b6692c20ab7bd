"""A wheel of this project, built from git and really installed, to be altered and asked.

One environment an installer, one server over pipes that lives through every change, and a process
of the command line for each. Nothing is fetched: what we depend on comes from the environment that
runs the tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from uv import find_uv_bin

from skills_bundle import __version__
from tests.end_to_end.conftest import run
from tests.hatch_plugin.sample import git
from tests.installed_builder import Installation
from tests.server.peer import call, initialize, line
from tests.tamper import installation

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

PROGRAM: Final = ("-P", "-m", "skills_bundle")
ENVIRONMENT: Final = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
PR_CAPBSET_DROP: Final = 24
CAPABILITIES: Final = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: what makes file modes say nothing to root."""


def heed_modes() -> None:
    """Let file modes count for this process and all it starts, also if root runs the tests."""
    if os.geteuid() == 0:
        for capability in CAPABILITIES:
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def build(clone: Path, folder: Path) -> Path:
    """Build a wheel from a checkout that also holds a file whose name is not ASCII.

    Args:
        clone: A clone of this project; copied.
        folder: Where to work.
    """
    checkout = shutil.copytree(clone, folder / "checkout", symlinks=True)
    (checkout / "skills" / installation.COMPOSED).write_text("# Café\n", encoding="utf-8")
    run(sys.executable, "-P", "-m", "skills_bundle", "lock", checkout)
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "A name that is not ASCII")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation"]
    run(*command, "--outdir", folder / "dist", checkout)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def install(wheel: Path, environment: Path, installer: str, *options: str | Path) -> Installed:
    """Install a wheel into a clean environment.

    Args:
        wheel: The wheel.
        environment: The folder to make.
        installer: `pip`, `uv` or `installer`.
        options: More for the installer.
    """
    venv.EnvBuilder(symlinks=True).create(environment)
    python = environment / "bin" / "python"
    command: dict[str, Sequence[str | Path]] = {
        "pip": (sys.executable, "-m", "pip", "--python", python, "install", "--no-index"),
        # A cache of its own: a file that is edited in place is edited in uv's cache, too.
        "uv": (
            *(find_uv_bin(), "pip", "install", "--offline", "--no-config", "--python", python),
            *("--cache-dir", environment.parent / "cache"),
        ),
    }
    if installer in command:
        run(*command[installer], "--quiet", "--no-deps", *options, wheel)
    else:
        # The library has no way to name an environment; its own interpreter does.
        code = "import sys; sys.path.append(sys.argv.pop(1)); from installer.__main__ import _main;"
        run(python, "-c", f"{code} _main(sys.argv[1:], 'installer')", _dependencies(), wheel)
    site = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(environment)}))
    (site / "dependencies.pth").write_text(f"{_dependencies()}\n", encoding="utf-8")
    return Installed(
        site=site,
        package="skills_bundle",
        name="skills-bundle",
        version=__version__,
        environment=environment,
    )


def _dependencies() -> str:
    return sysconfig.get_path("purelib")


@dataclass(kw_only=True)
class Installed(Installation):
    """An installation in an environment of its own.

    Attributes:
        environment: The environment's folder.
    """

    environment: Path
    pristine: Path = field(default=Path())

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.environment / "bin" / "python"

    def verify_as_a_command(self) -> dict[str, Any]:
        """Return what `skills-bundle verify --json` prints, with the process's own exit code."""
        ran = subprocess.run(
            [self.python, *PROGRAM, "verify", "--json"],
            cwd=self.environment,
            env=ENVIRONMENT,
            capture_output=True,
            check=False,
            timeout=120,
            preexec_fn=heed_modes,
        )
        found = json.loads(ran.stdout)
        assert found.get("exit_code", ran.returncode) == ran.returncode, ran.stderr
        return {**found, "exit_code": ran.returncode}

    def keep(self) -> None:
        """Keep a copy of all that was installed, byte code included."""
        self.pristine = self.environment / "pristine"
        shutil.copytree(self.site, self.pristine, symlinks=True)

    def restore(self, *, code: bool = False) -> None:
        """Put everything back as it was kept, and remove what was added.

        Args:
            code: Also the package's modules, which few changes are about.
        """
        again = {"dependencies.pth", self.dist_info.name}
        again |= {self.package} if code else {f"{self.package}/{self.bundle.name}"}
        for path in (*self.folder.iterdir(), *self.site.iterdir()):
            name = path.relative_to(self.site).as_posix()
            if name in again or not (self.pristine / name).exists():
                odd_remove(path)
        for name in again:
            kept = self.pristine / name
            if kept.is_dir():
                shutil.copytree(kept, self.site / name, symlinks=True)
            else:
                shutil.copy2(kept, self.site / name)


def odd_remove(path: Path) -> None:
    """Remove whatever lies there, also what may not be looked into."""
    if path.is_dir() and not path.is_symlink():
        for folder in (path, *(each for each in path.rglob("*") if each.is_dir())):
            if not folder.is_symlink():
                folder.chmod(0o755)
        shutil.rmtree(path)
    else:
        path.unlink()


class Server:
    """A real server of an installation, asked over pipes.

    Args:
        made: The installation.
    """

    def __init__(self, made: Installed) -> None:
        """Start it and shake hands."""
        self._process = subprocess.Popen(
            [made.python, *PROGRAM, "mcp", "serve", "--resources", "all"],
            cwd=made.environment,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=heed_modes,  # noqa: PLW1509 -- nothing here has threads
        )
        self._ask(initialize())

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(line(message))
        stdin.flush()
        return json.loads(stdout.readline())

    def _call(self, tool: str, **arguments: object) -> dict[str, Any]:
        return self._ask(call(tool, arguments))["result"]["structuredContent"]

    def read(self, path: str) -> dict[str, Any]:
        """Ask for a file by its path below the skills folder; give the structured answer."""
        skill, _, resource = path.partition("/")
        return self._call("skill_resource_read", skill=skill, resource=resource)

    def search(self) -> dict[str, Any]:
        """Ask for every skill."""
        return self._call("skill_catalog_search", query="")

    def close(self) -> int:
        """End its input and give its exit code."""
        self._process.communicate(timeout=60)
        return self._process.returncode


@contextmanager
def serving(made: Installed) -> Generator[Server]:
    """Yield a server that exits by itself with 0 when the block ends."""
    server = Server(made)
    yield server
    assert server.close() == 0


def demand_whole(made: Installed, server: Server) -> None:
    """Insist that a server finds nothing amiss, and gives what lies there."""
    assert server.search()["provenance"]["gaps"] == []
    found = server.read(installation.TARGET)["content"].encode()
    assert found == (made.skills / installation.TARGET).read_bytes()


@contextmanager
def room() -> Generator[Path]:
    """Return a folder outside pytest's private ones."""
    folder = Path(tempfile.mkdtemp(prefix="skills-bundle-tampered-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
