"""From a commit to a verified answer: real front ends, then no network any more.

Each installation comes from one local folder of wheels. Where the system lets us, every command
runs in a network namespace of its own that has no interfaces at all; everywhere, no index is named.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from mcp import StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client

from skills_bundle import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLS: Final = Path(sys.executable).parent
BUILDERS: Final = {
    "pypa-build": (sys.executable, "-m", "build", "--outdir"),
    "uv": (TOOLS / "uv", "build", "--quiet", "--out-dir"),
}
PINNED: Final = f"skills-bundle=={__version__}"


def _without_network() -> tuple[str, ...]:
    """Return the command that disables the network, or nothing where that is not allowed."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    for options in (["-n"], ["-r", "-n"]):
        if subprocess.run([unshare, *options, "true"], capture_output=True, check=False).returncode:
            continue
        return (unshare, *options)
    return ()


NO_NETWORK: Final = _without_network()


class Room:
    """An empty home and folder, where commands run without a network, far from any checkout."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        """Make the folders."""
        self.folder = folder
        self.home = folder / "home"
        self.elsewhere = folder / "elsewhere"
        for path in (self.home, self.elsewhere):
            path.mkdir(parents=True)
        self.environment = {
            "PATH": os.pathsep.join([str(TOOLS), os.environ["PATH"]]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(wheels),
            "UV_OFFLINE": "1",
            "UV_NO_CONFIG": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_PYTHON": sys.executable,
            "PIPX_DEFAULT_BACKEND": "pip",
        }

    def command(self, command: Sequence[str | Path]) -> list[str]:
        """Return a command as it runs here."""
        return [*NO_NETWORK, *map(str, command)]

    def run(self, *command: str | Path, status: int = 0) -> str:
        """Run a command from a folder that holds nothing, and give what it printed."""
        ran = subprocess.run(
            self.command(command),
            cwd=self.elsewhere,
            env=self.environment,
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
        )
        assert ran.returncode == status, f"{command}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout


@pytest.fixture(scope="module", params=list(BUILDERS))
def wheels(
    request: pytest.FixtureRequest,
    clone: Path,
    wheelhouse: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Build with one front end, put the wheel among its dependencies, move the checkout away."""
    room = tmp_path_factory.mktemp(f"built-{request.param}")
    checkout = shutil.copytree(clone, room / "checkout", symlinks=True)
    shutil.copytree(wheelhouse, room / "wheels", ignore=shutil.ignore_patterns("skills_bundle-*"))
    subprocess.run([*BUILDERS[request.param], room / "dist", checkout], check=True)
    checkout.rename(room / "moved-away")
    (wheel,) = (room / "dist").glob("*.whl")
    shutil.copy(wheel, room / "wheels")
    return room / "wheels"


@pytest.fixture(scope="module", params=["pip", "uv"])
def installed(
    request: pytest.FixtureRequest, wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Room, Path]:
    """Install the pinned wheel and its dependencies into a clean environment; give its scripts."""
    room = Room(tmp_path_factory.mktemp(f"installed-{request.param}"), wheels)
    environment = room.folder / "environment"
    if request.param == "pip":
        room.run(sys.executable, "-m", "venv", environment)
        room.run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", PINNED)
    else:
        room.run("uv", "venv", "--quiet", environment)
        python = environment / "bin" / "python"
        room.run("uv", "pip", "install", "--quiet", "--python", python, PINNED)
    return room, environment / "bin"


def _ask(room: Room, command: Sequence[str | Path], resource: dict[str, Any]) -> dict[str, Any]:
    """Start a server with the official client and give what one read answers."""

    async def converse() -> dict[str, Any]:
        program, *arguments = room.command(command)
        server = StdioServerParameters(
            command=program, args=arguments, env=room.environment, cwd=room.elsewhere
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            answer = await session.call_tool("skill_resource_read", resource)
            return cast("dict[str, Any]", answer.structured_content)

    return asyncio.run(converse())


READ: Final = {"skill": "writing-agent-skills"}


@pytest.fixture(scope="module")
def answer(installed: tuple[Room, Path]) -> dict[str, Any]:
    """Ask the installed server once, with the official client, from a folder that holds nothing."""
    room, scripts = installed
    return _ask(room, [scripts / "skills-bundle", "mcp", "serve"], READ)


def test_the_official_client_reads_what_the_lock_pins(
    installed: tuple[Room, Path], answer: dict[str, Any]
) -> None:
    """The bytes served have the digest that the installed lock names for that file."""
    _, scripts = installed
    (skill,) = [row for row in _locked(scripts)["skills"] if row["name"] == READ["skill"]]
    (file,) = [row for row in skill["files"] if row["path"] == "SKILL.md"]
    served = hashlib.sha256(answer["content"].encode()).hexdigest()
    assert served == file["sha256"]


def test_an_answer_names_the_commit_it_was_built_from(answer: dict[str, Any], clone: Path) -> None:
    """The provenance carries the commit of the checkout, which is no longer there."""
    head = subprocess.check_output(["git", "-C", clone, "rev-parse", "HEAD"]).decode().strip()
    assert answer["provenance"]["resolved_git_sha"] == head


def test_an_answer_says_that_its_bytes_were_verified(answer: dict[str, Any]) -> None:
    """Integrity is recomputed from the installed files: verified, with no gap."""
    claims = answer["provenance"]
    assert (claims["source_provenance"]["integrity"], claims["gaps"]) == ("verified", [])


def test_the_installation_verifies_itself(installed: tuple[Room, Path]) -> None:
    """`verify` exits 0 on an untouched installation."""
    room, scripts = installed
    assert "verified" in room.run(scripts / "skills-bundle", "verify")


def test_the_command_line_gives_what_the_tool_gives(
    installed: tuple[Room, Path], answer: dict[str, Any]
) -> None:
    """`catalog read --json` prints the tool's structured result."""
    room, scripts = installed
    printed = room.run(scripts / "skills-bundle", "catalog", "read", READ["skill"], "--json")
    assert json.loads(printed) == answer


def test_mcp_check_shows_that_it_works(installed: tuple[Room, Path]) -> None:
    """`mcp check` starts the installed server, reads a skill and compares it with the lock."""
    room, scripts = installed
    report = json.loads(room.run(scripts / "skills-bundle", "mcp", "check", "--json"))
    assert report["ok"] is True


def test_library_skills_finds_the_skills(installed: tuple[Room, Path], tmp_path: Path) -> None:
    """What looks for `.agents/skills` in installed packages lists exactly the locked skills."""
    room, scripts = installed
    (tmp_path / ".venv").symlink_to(scripts.parent)
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nname = "user"\nversion = "1"\ndependencies = ["{PINNED}"]\n', encoding="utf-8"
    )
    program = TOOLS / "library-skills"
    listed = subprocess.check_output(
        [program, "scan", "--json"], cwd=tmp_path, env=room.environment
    )
    found = sorted(row["name"] for row in json.loads(listed)["skills"])
    assert found == sorted(row["name"] for row in _locked(scripts)["skills"])


def _locked(scripts: Path) -> dict[str, Any]:
    """Read the installed lock, with nothing of ours."""
    (file,) = scripts.parent.glob("lib/*/site-packages/skills_bundle/.agents/catalog.lock.json")
    return json.loads(file.read_bytes())


@pytest.mark.parametrize(
    "runner",
    [("pipx", "run", PINNED), ("uvx", PINNED)],
    ids=["pipx", "uvx"],
)
def test_a_pinned_launch_command_serves(
    runner: tuple[str, ...], wheels: Path, tmp_path: Path
) -> None:
    """The launch commands of client configurations serve from the local wheel, without an index."""
    room = Room(tmp_path, wheels)
    answer = _ask(room, [*runner, "mcp", "serve"], READ)
    assert answer["provenance"]["package_version"] == __version__
