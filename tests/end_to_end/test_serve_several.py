"""Two wheels, ours and somebody else's, in one environment: served together, each for itself."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from uv import find_uv_bin

from tests.end_to_end.conftest import once
from tests.end_to_end.test_build_foreign import built, offline, src_layout
from tests.hatch_plugin.sample import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

ACME, OURS = "acme-skills", "skills-bundle"


class Pair(NamedTuple):
    """A foreign wheel and an environment that holds it and ours."""

    wheel: Path
    environment: Path

    @property
    def program(self) -> str:
        """Our command in that environment."""
        return str(self.environment / "bin" / "skills-bundle")

    @property
    def foreign(self) -> Path:
        """The foreign package there."""
        (folder,) = self.environment.glob("lib/python*/site-packages/acme_skills")
        return folder


@pytest.fixture(scope="session")
def foreign_wheel(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build somebody else's wheel with our hook, once."""

    def make(folder: Path) -> None:
        sample = src_layout(folder / "repository").committed()
        built(sample.folder, wheelhouse, folder / "out")

    (wheel,) = (once(tmp_path_factory, "foreign", make) / "out").glob("*.whl")
    return wheel


@pytest.fixture
def pair(foreign_wheel: Path, wheelhouse: Path, tmp_path: Path) -> Pair:
    """Install both wheels into an environment of the test's own."""
    made = Pair(foreign_wheel, tmp_path / "environment")
    uv = find_uv_bin()
    python = made.environment / "bin" / "python"
    options = ("--quiet", "--link-mode", "copy", "--python", str(python))
    for command in (
        [uv, "venv", "--quiet", "--python", sys.executable, str(made.environment)],
        [uv, "pip", "install", *options, "skills-bundle", str(made.wheel)],
    ):
        subprocess.run(command, env=offline(wheelhouse), check=True, cwd=tmp_path)
    return made


def with_client(command: list[str], scenario: Callable[[Client], Awaitable[Any]]) -> Any:
    """Connect the official SDK's client to a server and have it ask."""

    async def run() -> Any:
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        async with Client(stdio_client(parameters)) as client:
            return await scenario(client)

    return anyio.run(run)


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool and give its structured answer."""
    return (await client.call_tool(tool, arguments)).structured_content


def test_the_official_client_searches_and_reads_in_both(pair: Pair) -> None:
    """Each answer with its own provenance, and the bytes that were locked."""

    async def scenario(client: Client) -> tuple[Any, Any, Any]:
        found = await ask(client, "skill_catalog_search", limit=50)
        page = await ask(client, "skill_resource_read", skill="greet", collection=ACME)
        row = next(row for row in found["skills"] if row["collection"] == OURS)
        own = await ask(client, "skill_resource_read", skill=row["path"], collection=OURS)
        return found, page, own

    found, page, own = with_client([pair.program, "mcp", "serve"], scenario)
    packages = {
        one["collection"]: one["provenance"]["package_name"] for one in found["collections"]
    }
    assert packages == {ACME: ACME, OURS: OURS}
    assert (page["content"].encode(), page["provenance"]["collection"]) == (SKILL_MD, ACME)
    assert own["provenance"]["package_name"] == OURS


def test_an_altered_lock_beside_a_running_server_takes_nothing_else_away(pair: Pair) -> None:
    """The other collection is served on, the altered one told of, and served again when mended."""
    lock = pair.foreign / ".agents" / "catalog.lock.json"

    async def scenario(client: Client) -> list[Any]:
        whole = await ask(client, "skill_catalog_search", limit=50)
        data = lock.read_bytes()
        lock.write_bytes(data.replace(b"greet", b"great"))
        altered = await ask(client, "skill_catalog_search", limit=50)
        lock.write_bytes(data)
        return [whole, altered, await ask(client, "skill_catalog_search", limit=50)]

    answers = with_client([pair.program, "mcp", "serve"], scenario)
    problems = [[one["problem"] for one in answer["collections"]] for answer in answers]
    assert problems == [[None, None], ["catalog_unavailable", None], [None, None]]
    assert {row["collection"] for row in answers[1]["skills"]} == {OURS}
    assert answers[2] == answers[0]


def test_an_altered_skill_is_not_served_and_the_rest_is(pair: Pair) -> None:
    """Its collection says so; ours still claims that everything matches."""
    (pair.foreign / ".agents/skills/greet/SKILL.md").write_bytes(b"evil")

    async def scenario(client: Client) -> tuple[Any, Any]:
        read = await ask(client, "skill_resource_read", skill="greet")
        return read, await ask(client, "skill_catalog_search")

    read, found = with_client([pair.program, "mcp", "serve"], scenario)
    claims = {
        one["collection"]: one["provenance"]["source_provenance"] for one in found["collections"]
    }
    assert read["error"]["code"] == "resource_unavailable"
    assert [claims[name]["integrity"] for name in (ACME, OURS)] == ["unavailable", "verified"]


def run(*command: str, cwd: Path, wheelhouse: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that knows no index but the wheelhouse."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=offline(wheelhouse),
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_check_compares_both_with_their_locks(pair: Pair, wheelhouse: Path, tmp_path: Path) -> None:
    """One command, every collection."""
    ran = run(pair.program, "mcp", "check", "--json", cwd=tmp_path, wheelhouse=wheelhouse)
    report = json.loads(ran.stdout)
    (compared,) = [step["detail"] for step in report["steps"] if step["name"] == "lock"]
    assert (ran.returncode, report["ok"]) == (0, True)
    assert [row["collection"] for row in report["collections"]] == [ACME, OURS]
    assert "acme_skills/.agents/catalog.lock.json" in compared
    assert "skills_bundle/.agents/catalog.lock.json" in compared


def test_check_fails_if_one_of_both_is_altered(
    pair: Pair, wheelhouse: Path, tmp_path: Path
) -> None:
    """Exit 3: that one cannot be told, though the other is well."""
    (pair.foreign / ".agents" / "catalog.lock.json").unlink()
    ran = run(pair.program, "mcp", "check", "--json", cwd=tmp_path, wheelhouse=wheelhouse)
    assert (ran.returncode, ACME in str(json.loads(ran.stdout)["problems"])) == (3, True)


def test_uvx_serves_both_without_an_installation(
    foreign_wheel: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """`uvx --with acme.whl skills-bundle mcp serve`, and standard error says what is served."""
    command = (find_uv_bin(), "tool", "run", "--with", str(foreign_wheel), "skills-bundle")
    ran = run(*command, "mcp", "check", "--json", cwd=tmp_path, wheelhouse=wheelhouse)
    assert ran.returncode == 0, ran.stderr
    assert [row["collection"] for row in json.loads(ran.stdout)["collections"]] == [ACME, OURS]
    served = run(*command, "mcp", "serve", cwd=tmp_path, wheelhouse=wheelhouse)
    assert served.returncode == 0
    assert "collection acme-skills: acme-skills 1.0, 1 skill, integrity verified" in served.stderr
    assert "collection skills-bundle: skills-bundle 0.1.0, " in served.stderr


def test_one_collection_alone_is_served_as_if_there_were_no_others(pair: Pair) -> None:
    """Named, it says nothing of collections: neither in its tools nor in its URIs."""

    async def scenario(client: Client) -> tuple[Any, list[str]]:
        found = await ask(client, "skill_catalog_search")
        return found, [str(row.uri) for row in (await client.list_resources()).resources]

    command = [pair.program, "mcp", "serve", "--collection", ACME]
    found, listed = with_client(command, scenario)
    assert found["provenance"]["collection"] == ACME
    assert "collections" not in found
    assert "skill://greet/SKILL.md" in listed
