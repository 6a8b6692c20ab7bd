"""The service and the container of the documentation start the server that they seem to start."""

from __future__ import annotations

import configparser
import json
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.repository.pages import page
from tests.server.http_commands import COMMAND, listening
from tests.server.http_peer import TOKEN, post
from tests.server.peer import call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE = page("docs/how-to/serve-a-team.md")


def example(name: str) -> str:
    """Return the text of a file that the page shows."""
    (text,) = [block.text for block in PAGE.blocks() if block.directive == f"file {name}"]
    return text


def service() -> list[str]:
    """Return the command of the systemd unit."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - as its documentation has it
    unit.read_string(example("skills-bundle@.service"))
    return shlex.split(unit["Service"]["ExecStart"])


def container() -> list[str]:
    """Return the command of the container."""
    lines = example("Containerfile").splitlines()
    (command,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD ")]
    return json.loads(command)


@pytest.mark.parametrize("example_of", [service, container], ids=["service", "container"])
def test_an_example_serves_its_name_to_clients_with_the_token(
    example_of: Callable[[], list[str]], tmp_path: Path
) -> None:
    """With the options it shows; only address and place of the token are this test's."""
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    options = example_of()[3:]  # after `skills-bundle mcp serve`
    given = [
        part.replace("%d", str(tmp_path)).replace(":%i", ":0").replace(":8765", ":0")
        for part in options
    ]
    headers = {"authorization": f"Bearer {TOKEN}", "Host": "acme.example"}
    with listening([*COMMAND, *given], {"SKILLS_TOKEN": TOKEN}) as process:
        request = call("skill_catalog_overview")
        let_in = post(process.port, request, headers=headers).status
        refused = post(process.port, request, headers={**headers, "authorization": "x"}).status
    assert (let_in, refused) == (200, 401)
