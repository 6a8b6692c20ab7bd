"""A server of several collections, over real installations and the real transport."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from skills_bundle.catalog import limits as catalog_limits
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.resources import COLLECTIONS
from skills_bundle.server.run import startup_lines
from tests.installed_builder import SAMPLE, InstalledBuilder
from tests.server.host import Host, tools_of
from tests.server.peer import DISCOVERY, REVISIONS, Peer, call
from tests.server.vectors import FOLDER, differences, exchange
from tests.several_builder import ACME, OTHER, SKILLS, Several, install_several

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

CONVERSATIONS = sorted((FOLDER / "several").glob("*.jsonl"))
LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
TOOLS = ("skill_catalog_search", "skill_resource_read", "skill_catalog_overview")


@pytest.fixture
def made(tmp_path: Path) -> Several:
    """Return two installed collections."""
    return install_several(tmp_path)


@pytest.mark.parametrize("path", CONVERSATIONS, ids=[path.stem for path in CONVERSATIONS])
def test_a_recorded_conversation_happens_again(made: Several, path: Path) -> None:
    """One for each revision, step by step."""
    found: list[str] = []
    catalog = made.catalog()
    with Peer(tools_of(catalog), catalog) as peer:
        for kind, message in exchange(path):
            if kind == "send":
                peer.send(message)
            else:
                found += differences(message, peer.receive())
    assert found == []


def test_there_is_a_conversation_for_each_revision() -> None:
    """None is left to chance."""
    assert {path.stem for path in CONVERSATIONS} == set(REVISIONS)


def test_a_server_of_one_collection_says_nothing_of_others(tmp_path: Path) -> None:
    """Neither in schemas nor in descriptions: hosts pay for every word."""
    catalog = InstalledBuilder().install(tmp_path).catalog()
    for tool in tools_of(catalog).tools:
        told = tool.description + json.dumps([tool.input_schema, tool.output_schema["anyOf"]])
        assert "several" not in told.lower()
        assert '"collection":' not in json.dumps(tool.input_schema)
        assert "collections" not in told


def test_collection_is_an_optional_input_of_every_tool(made: Several) -> None:
    """And the only one more than a server of one collection has."""
    one = tools_of(made[ACME].catalog()).tools
    several = tools_of(made.catalog()).tools
    for before, after in zip(one, several, strict=True):
        old: Any = before.input_schema
        new: Any = after.input_schema
        assert (before.name, old.get("required")) == (after.name, new.get("required"))
        assert set(new["properties"]) - set(old["properties"]) == {"collection"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (TOOLS[0], {}),
        (TOOLS[0], {"collection": None}),
        (TOOLS[0], {"collection": OTHER}),
        (TOOLS[0], {"collection": "nobody"}),
        (TOOLS[0], {"collection": 1}),
        (TOOLS[1], {"skill": "beta"}),
        (TOOLS[1], {"skill": "beta", "collection": ACME}),
        (TOOLS[2], {}),
    ],
)
@pytest.mark.parametrize("is_gone", [False, True])
def test_every_answer_fits_the_output_schema(
    made: Several, name: str, arguments: Any, *, is_gone: bool
) -> None:
    """Successes and errors, with everything there or not."""
    if is_gone:
        made[OTHER].lock.unlink()
    (tool,) = [tool for tool in tools_of(made.catalog()).tools if tool.name == name]
    validator: Any = jsonschema.Draft202012Validator(tool.output_schema)
    assert list(validator.iter_errors(tool.call(arguments)["structuredContent"])) == []


def test_the_first_line_of_a_description_stands_alone(made: Several) -> None:
    """Some hosts show no more of it."""
    tools = tools_of(made.catalog()).tools
    first = [tool.description.splitlines()[0] for tool in tools]
    assert [line for line in first if len(line) > limits.TOOL_SUMMARY_MAX_CHARACTERS] == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_hosts_are_told_that_there_are_several(made: Several, revision: str) -> None:
    """In the instructions, in every revision."""
    with Host(made.catalog(), revision) as host:
        assert "Several collections are served" in host.opening["instructions"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_file_of_every_collection_is_in_an_entry(made: Several, revision: str) -> None:
    """Digests and sizes are those of the bytes on disk."""
    with Host(made.catalog(), revision) as host:
        listed = host.result("skills/list")["skills"]
    found = {row["uri"]: (row["digest"], row["size"]) for one in listed for row in one["resources"]}
    assert found == {
        f"skill://{name}/{path}/{file}": (f"sha256:{sha256_hex(data)}", len(data))
        for name, skills in SKILLS.items()
        for path, files in skills.items()
        for file, data in files.items()
    }


def test_the_last_part_of_a_skills_path_is_its_name(made: Several) -> None:
    """The extension demands it."""
    with Host(made.catalog()) as host:
        entries = host.result("skills/list")["skills"]
    assert [entry["uri"].split("/")[-2] for entry in entries] == [
        entry["frontmatter"]["name"] for entry in entries
    ]


def test_what_is_listed_is_read_with_the_provenance_of_its_collection(made: Several) -> None:
    """Each answer its own."""
    with Host(made.catalog()) as host:
        for row in host.result("resources/list")["resources"]:
            answer = host.result("resources/read", uri=row["uri"])
            assert host.provenance(answer)["collection"] == row["uri"].split("/")[2]


def test_a_listing_says_of_each_collection_where_it_comes_from(made: Several) -> None:
    """By what its URIs begin with."""
    with Host(made.catalog()) as host:
        rows = host.result("skills/list")["_meta"][COLLECTIONS]
    assert [(row["uri"], row["provenance"]["package_name"], row["total"]) for row in rows] == [
        ("skill://acme-skills/", "dist-0", 2),
        ("skill://other-skills/", "dist-1", 2),
    ]


def test_walking_down_from_the_collections_finds_every_file(made: Several) -> None:
    """Folder by folder, as a host shows them."""
    with Host(made.catalog()) as host:
        folders, files = [f"skill://{name}" for name in SKILLS], list[str]()
        while folders:
            rows = host.result("resources/directory/read", uri=folders.pop())["resources"]
            folders += [row["uri"] for row in rows if row.get("mimeType") == "inode/directory"]
            files += [row["uri"] for row in rows if row.get("mimeType") != "inode/directory"]
        listed = [row["uri"] for row in host.result("resources/list")["resources"]]
    assert sorted(files) == sorted(listed)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_lost_collection_takes_nothing_from_the_others(made: Several, revision: str) -> None:
    """They are listed and read; the lost one is told of, and its URIs are not called unknown."""
    with Host(made.catalog(), revision) as host:
        host.result("skills/list")
        made[OTHER].lock.unlink()
        answer = host.result("skills/list")
        data = host.bytes("skill://acme-skills/alpha/SKILL.md")
        error = host.error("resources/read", uri="skill://other-skills/beta/SKILL.md")
    problems = [row["problem"] for row in answer["_meta"][COLLECTIONS]]
    assert (len(answer["skills"]), problems) == (2, [None, "catalog_unavailable"])
    assert data == SAMPLE["alpha"]["SKILL.md"]
    assert (error["code"], error["data"]["code"]) == (-32603, "collection_unavailable")


def test_clients_are_told_when_a_collection_goes_and_when_it_comes_back(made: Several) -> None:
    """By whatever request it is noticed."""
    data = made[OTHER].lock.read_bytes()
    with Host(made.catalog()) as host:
        host.result("skills/list")
        made[OTHER].lock.unlink()
        host.ask(call("skill_catalog_search"))
        after_going = list(host.notes)
        made[OTHER].lock.write_bytes(data)
        host.ask(call("skill_catalog_search"))
    assert (after_going, host.notes) == ([LIST_CHANGED], [LIST_CHANGED] * 2)


def test_an_altered_file_is_refused_beside_its_neighbours(made: Several) -> None:
    """The other collection and the other files are served."""
    (made[OTHER].skills / "beta/SKILL.md").write_bytes(b"other")
    with Host(made.catalog()) as host:
        error = host.error("resources/read", uri="skill://other-skills/beta/SKILL.md")
        assert error["data"]["code"] == "altered_file"
        assert host.bytes("skill://other-skills/gamma/SKILL.md")
        assert host.bytes("skill://acme-skills/group/beta/SKILL.md")


def test_a_cursor_ends_with_any_collection_it_was_made_of(
    made: Several, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a page would be missing, or come twice."""
    monkeypatch.setattr(catalog_limits, "LISTING_PAGE_MAX_BYTES", 600)
    with Host(made.catalog()) as host:
        cursor = host.result("skills/list")["nextCursor"]
        made[OTHER].lock.unlink()
        assert host.error("skills/list", cursor=cursor)["data"]["code"] == "invalid_cursor"


def test_a_folders_cursor_is_good_as_long_as_its_collection_stays(
    made: Several, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is of one lock alone."""
    monkeypatch.setattr(catalog_limits, "LISTING_PAGE_MAX_BYTES", 10)
    with Host(made.catalog()) as host:
        uri = "skill://acme-skills/alpha"
        cursor = host.result("resources/directory/read", uri=uri)["nextCursor"]
        made[OTHER].lock.unlink()
        assert host.result("resources/directory/read", uri=uri, cursor=cursor)["resources"]


def test_without_any_collection_every_question_is_refused(made: Several) -> None:
    """With the code of one that is alone."""
    for place in made.values():
        place.lock.unlink()
    with Host(made.catalog(), DISCOVERY) as host:
        codes = {
            host.error(method, **params)["data"]["code"]
            for method, params in (
                ("skills/list", {}),
                ("resources/list", {}),
                ("resources/read", {"uri": "skill://acme-skills/alpha/SKILL.md"}),
            )
        }
    assert codes == {"catalog_unavailable"}


def test_who_starts_a_server_of_several_is_told_what_each_is(made: Several) -> None:
    """A line each: version, skills and state; why one is not served."""
    made[OTHER].lock.unlink()
    assert "\n".join(startup_lines(made.catalog())) == (
        "collection acme-skills: dist-0 1.2.0, 2 skills, integrity verified\n"
        "collection other-skills cannot be served, and answers will say so: "
        "Nothing can be served: the lock is missing."
    )


def test_a_name_drives_no_terminal(tmp_path: Path) -> None:
    """What others call their collections is escaped."""
    made = install_several(tmp_path, {"\x1b[2J": SAMPLE, "b": SAMPLE})
    assert startup_lines(made.catalog())[0].startswith("collection \\x1b[2J: ")


def test_who_starts_a_server_of_one_is_told_nothing_new(tmp_path: Path) -> None:
    """A host's log is no place for good news."""
    assert startup_lines(InstalledBuilder().install(tmp_path).catalog()) == []


def test_a_quiet_start_prints_only_problems(made: Several) -> None:
    """`--quiet` leaves out collections of which everything can be served."""
    assert startup_lines(made.catalog(), quiet=True) == []
    made["other-skills"].lock.unlink()
    assert len(startup_lines(made.catalog(), quiet=True)) == 1
