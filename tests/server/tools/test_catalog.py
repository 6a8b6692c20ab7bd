"""The group `catalog` over a real installation on disk."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skills_bundle.catalog import limits as catalog_limits
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.session import instructions
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder
from tests.server.host import tools_of
from tests.server.peer import DISCOVERY, Peer, call, initialize, request

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.server.tools.base import Toolbox

READ = "skill_resource_read"
SEARCH = "skill_catalog_search"
OVERVIEW = "skill_catalog_overview"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return two skills, installed."""
    return InstalledBuilder().install(tmp_path)


@pytest.fixture
def toolbox(installation: Installation) -> Toolbox:
    """Return the tools over them."""
    return tools_of(installation.catalog())


def ask(toolbox: Toolbox, name: str, arguments: Any = None) -> Any:
    """Call a tool and give its structured answer."""
    return toolbox.call(name, arguments or {})["structuredContent"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (SEARCH, {}),
        (SEARCH, {"query": "nothing like this"}),
        (SEARCH, {"limit": 0}),
        (READ, {"skill": "alpha"}),
        (READ, {"skill": "nobody"}),
        (READ, {}),
        (OVERVIEW, {}),
        (OVERVIEW, {"max_entries": 99}),
    ],
)
def test_every_answer_fits_the_output_schema(toolbox: Toolbox, name: str, arguments: Any) -> None:
    """Successes and errors."""
    (tool,) = [tool for tool in toolbox.tools if tool.name == name]
    validator: Any = jsonschema.Draft202012Validator(tool.output_schema)
    assert list(validator.iter_errors(ask(toolbox, name, arguments))) == []


def test_the_first_line_of_a_description_stands_alone(toolbox: Toolbox) -> None:
    """Some hosts show no more of it."""
    first = [tool.description.splitlines()[0] for tool in toolbox.tools]
    assert [line for line in first if len(line) > limits.TOOL_SUMMARY_MAX_CHARACTERS] == []


def test_the_tools_are_listed_in_one_order(toolbox: Toolbox) -> None:
    """Whatever is asked for."""
    assert [tool.name for tool in toolbox.tools] == [SEARCH, READ, OVERVIEW]


def test_every_tool_is_read_only(toolbox: Toolbox) -> None:
    """The default group changes nothing and reaches nowhere."""
    hints = [
        (tool.annotations["readOnlyHint"], tool.annotations["openWorldHint"])
        for tool in toolbox.tools
    ]
    assert hints == [(True, False)] * 3


def test_every_tool_has_a_title_and_destroys_nothing(toolbox: Toolbox) -> None:
    """Hosts show the one and ask for the other."""
    for tool in toolbox.tools:
        assert tool.annotations["title"]
        assert tool.annotations["destructiveHint"] is False


def test_schemas_stay_in_the_subset_that_every_validator_takes(toolbox: Toolbox) -> None:
    """Escapes with u and look-around are refused by some; so is a long `maxLength`."""
    for tool in toolbox.tools:
        text = json.dumps([tool.input_schema, tool.output_schema])
        lengths = [int(one) for one in re.findall(r'"maxLength": (\d+)', text)]
        patterns = [json.loads(f'"{one}"') for one in re.findall(r'"pattern": "(.*?)"', text)]
        assert [one for one in patterns if re.search(r"\\[uxpP]|\(\?[=!<]", one)] == []
        assert max(lengths, default=0) < 2_000


def test_only_the_read_may_have_long_results(toolbox: Toolbox) -> None:
    """For hosts that cut results."""
    metas = {tool.name: tool.meta for tool in toolbox.tools if tool.meta}
    assert metas == {READ: {"anthropic/maxResultSizeChars": limits.RESULT_MAX_CHARACTERS}}


def test_no_text_of_ours_calls_skills_tested_or_trusted(
    installation: Installation, toolbox: Toolbox
) -> None:
    """They are the words of their authors."""
    texts = [tool.description for tool in toolbox.tools] + [instructions(installation.catalog())]
    assert not re.search("tested|trusted", "".join(texts))


def test_what_hosts_pay_for_is_small(toolbox: Toolbox) -> None:
    """Names, descriptions and input schemas together, in characters of JSON."""
    text = "".join(f"{tool.name}{tool.description}{tool.input_schema}" for tool in toolbox.tools)
    assert len(text) < 3_000


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (SEARCH, {"limit": 51}),
        (SEARCH, {"offset": -1}),
        (SEARCH, {"query": "x" * 201}),
        (SEARCH, {"query": "a\nb"}),
        (SEARCH, {"Query": "x"}),
        (READ, {}),
        (READ, {"skill": ""}),
        (READ, {"skill": 1}),
        (READ, {"skill": "alpha", "limit": 1_000_000}),
        (READ, {"skill": "alpha", "resource": "../../pyproject.toml"}),
        (OVERVIEW, {"max_entries": 101}),
        (OVERVIEW, {"max_entries": True}),
    ],
)
def test_arguments_outside_the_schema_are_invalid_input(
    toolbox: Toolbox, name: str, arguments: Any
) -> None:
    """Every bound of every tool."""
    assert ask(toolbox, name, arguments)["error"]["code"] == "invalid_input"


@pytest.mark.parametrize("query", ["x" * 200, "é" * 200, "😀" * 200])
def test_a_query_is_counted_in_code_points(toolbox: Toolbox, query: str) -> None:
    """By the schema and by the record alike."""
    assert ask(toolbox, SEARCH, {"query": query})["total"] == 0


def test_a_whole_number_may_be_written_with_a_point(toolbox: Toolbox) -> None:
    """JSON has one kind of number."""
    assert ask(toolbox, SEARCH, {"limit": 1.0})["limit"] == 1


def test_a_read_gives_the_locked_bytes(toolbox: Toolbox) -> None:
    """With the whole file's digest."""
    answer = ask(toolbox, READ, {"skill": "alpha"})
    data = SAMPLE["alpha"]["SKILL.md"]
    assert (answer["content"].encode(), answer["content_sha256"]) == (data, sha256_hex(data))


def test_a_long_file_is_read_in_pages(tmp_path: Path) -> None:
    """300 KiB: joined together the pages are the file."""
    body = b"---\nname: long\ndescription: Long.\n---\n" + "wörter\n".encode() * 40_000
    installed = InstalledBuilder(skills={"long": {"SKILL.md": body}}).install(tmp_path)
    tools = tools_of(installed.catalog())
    pages: list[str] = []
    offset = 0
    while offset is not None:
        page = ask(tools, READ, {"skill": "long", "offset": offset})
        pages.append(page["content"])
        offset = page["next_offset"]
    assert "".join(pages).encode() == body


def test_the_largest_page_of_the_worst_text_fits_into_one_answer(tmp_path: Path) -> None:
    """Control characters are six times as long in JSON, and the text is there twice."""
    body = b"---\nname: bad\ndescription: Bad.\n---\n" + b"\x01\\" * 150_000
    installed = InstalledBuilder(skills={"bad": {"SKILL.md": body}}).install(tmp_path)
    tools = tools_of(installed.catalog())
    with Peer(tools) as peer:
        arguments = {"skill": "bad", "limit": catalog_limits.READ_MAX_LIMIT}
        peer.send(initialize(), call(READ, arguments))
        peer.receive()
        answer = peer.receive()["result"]["structuredContent"]
    assert answer.get("error", {}).get("code") in (None, "response_too_large")


def test_a_lock_that_is_gone_makes_every_tool_say_so(installation: Installation) -> None:
    """The server still lists its tools."""
    tools = tools_of(installation.catalog())
    installation.lock.unlink()
    calls: list[tuple[str, Any]] = [(SEARCH, {}), (READ, {"skill": "alpha"}), (OVERVIEW, {})]
    codes = [ask(tools, name, arguments)["error"]["code"] for name, arguments in calls]
    assert codes == ["catalog_unavailable"] * 3


def test_a_lock_that_is_back_is_served_again(installation: Installation) -> None:
    """Nobody needs to restart a host."""
    tools = tools_of(installation.catalog())
    data = installation.lock.read_bytes()
    installation.lock.unlink()
    ask(tools, SEARCH)
    installation.lock.write_bytes(data)
    assert ask(tools, SEARCH)["total"] == 2


def test_an_altered_file_is_not_served_and_the_others_are(
    installation: Installation, toolbox: Toolbox
) -> None:
    """And the answers say so."""
    (installation.skills / "alpha" / "SKILL.md").write_bytes(b"tampered")
    altered = ask(toolbox, READ, {"skill": "alpha"})["error"]["code"]
    other = ask(toolbox, READ, {"skill": "beta"})["provenance"]["gaps"]
    assert (altered, "altered_files" in other) == ("resource_unavailable", True)


def test_the_whole_way_over_the_wire(toolbox: Toolbox) -> None:
    """2026-07-28, from the line to the file and back."""
    with Peer(toolbox) as peer:
        peer.send(
            request("server/discover", {}, 0, DISCOVERY),
            call(READ, {"skill": "group/beta"}, 1, DISCOVERY),
        )
        peer.receive()
        assert peer.receive()["result"]["structuredContent"]["path"] == "group/beta"
