"""The MCP skills extension in every revision, over a real installation and the real transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits
from skills_bundle.formats.digest import sha256_hex
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder
from tests.server.host import Host, tools_of
from tests.server.peer import DISCOVERY, HANDSHAKES, REVISIONS, Peer, call
from tests.server.vectors import FOLDER, differences, exchange

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

ALPHA = "skill://alpha/SKILL.md"
BETA = "skill://group/beta/SKILL.md"
CONVERSATIONS = sorted((FOLDER / "skills").glob("*.jsonl"))
DECLARED = {"io.modelcontextprotocol/skills": {"directoryRead": True}}


@pytest.fixture
def place(tmp_path: Path) -> Installation:
    """Return an installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.mark.parametrize("path", CONVERSATIONS, ids=[path.stem for path in CONVERSATIONS])
def test_a_recorded_conversation_happens_again(place: Installation, path: Path) -> None:
    """One for each revision, step by step, over the sample installation."""
    found: list[str] = []
    catalog = place.catalog()
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


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_extension_is_declared_in_every_revision(place: Installation, revision: str) -> None:
    """With its settings directly below its name."""
    with Host(place, revision) as host:
        assert host.opening["capabilities"]["extensions"] == DECLARED


@pytest.mark.parametrize("revision", REVISIONS)
def test_resources_are_declared_in_every_revision(place: Installation, revision: str) -> None:
    """The extension demands it; changes can be told where no subscription is needed."""
    with Host(place, revision) as host:
        declared = host.opening["capabilities"]["resources"]
    assert declared == {"subscribe": False, "listChanged": revision != DISCOVERY}


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_skill_is_listed_with_every_file_in_every_revision(
    place: Installation, revision: str
) -> None:
    """Digests and sizes are those of the bytes on disk."""
    with Host(place, revision) as host:
        listed = host.result("skills/list")["skills"]
    found = {row["uri"]: (row["digest"], row["size"]) for one in listed for row in one["resources"]}
    assert found == {
        f"skill://{path}/{one}": (f"sha256:{sha256_hex(data)}", len(data))
        for path, files in SAMPLE.items()
        for one, data in files.items()
    }


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_skill_is_got_as_it_is_listed_in_every_revision(
    place: Installation, revision: str
) -> None:
    """Same shape, same meaning."""
    with Host(place, revision) as host:
        listed = host.result("skills/list")["skills"]
        got = [host.result("skills/get", uri=entry["uri"])["skill"] for entry in listed]
    assert got == listed


def test_a_skill_that_is_got_has_no_cursor(place: Installation) -> None:
    """One entry is no list."""
    with Host(place, DISCOVERY) as host:
        assert "nextCursor" not in host.result("skills/get", uri=ALPHA)


def test_the_bytes_are_the_same_by_tool_by_resource_and_in_the_entry(place: Installation) -> None:
    """One file, three ways, one digest."""
    with Host(place) as host:
        entry = host.result("skills/get", uri=ALPHA)["skill"]
        told = host.ask(call("skill_resource_read", {"skill": "alpha"}))["result"]
        data = host.bytes(ALPHA)
    by_tool = told["structuredContent"]
    digest = next(row["digest"] for row in entry["resources"] if row["uri"] == ALPHA)
    assert by_tool["content"].encode() == data
    assert digest == f"sha256:{by_tool['content_sha256']}" == f"sha256:{sha256_hex(data)}"


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "uri",
    [
        "skill://nobody/SKILL.md",
        "skill://alpha",
        "skill://alpha/",
        "skill://alpha/references/guide.md",
        "skill://beta/SKILL.md",
        "skill://ALPHA/SKILL.md",
        "skill://alpha/%53KILL.md",
        "SKILL.md",
        "/SKILL.md",
        "",
    ],
)
def test_what_is_no_skill_is_invalid(place: Installation, revision: str, uri: str) -> None:
    """-32602 in every revision: the extension says so."""
    with Host(place, revision) as host:
        error = host.error("skills/get", uri=uri)
    assert (error["code"], error["data"]) == (-32602, {"code": "unknown_skill"})


@pytest.mark.parametrize("params", [{}, {"uri": 1}, {"uri": None}, {"uri": ["x"]}], ids=repr)
@pytest.mark.parametrize("method", ["skills/get", "resources/directory/read"])
@pytest.mark.parametrize("revision", [HANDSHAKES[0], HANDSHAKES[-1], DISCOVERY])
def test_parameters_of_another_form_are_invalid(
    place: Installation, revision: str, method: str, params: dict[str, Any]
) -> None:
    """And not repeated."""
    with Host(place, revision) as host:
        assert host.error(method, **params)["code"] == -32602


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_skill_without_an_entry_is_neither_listed_nor_got(tmp_path: Path, revision: str) -> None:
    """The error tells it from a skill that is not there."""
    fields: dict[str, dict[str, object]] = {"alpha": {"diagnostics": ("yaml_ambiguous",)}}
    place = InstalledBuilder(fields=fields).install(tmp_path)
    with Host(place, revision) as host:
        listed = [entry["uri"] for entry in host.result("skills/list")["skills"]]
        error = host.error("skills/get", uri=ALPHA)
    assert listed == [BETA]
    assert (error["code"], error["data"]) == (-32602, {"code": "unlisted_skill"})


def test_a_skill_without_an_entry_is_served_by_tool_and_as_resources(tmp_path: Path) -> None:
    """Its bytes are as good as any; and the overview says why it is not listed."""
    fields: dict[str, dict[str, object]] = {"alpha": {"diagnostics": ("yaml_repaired",)}}
    place = InstalledBuilder(fields=fields).install(tmp_path)
    with Host(place) as host:
        read = host.ask(call("skill_resource_read", {"skill": "alpha"}))["result"]
        overview = host.ask(call("skill_catalog_overview"))["result"]["structuredContent"]
        data = host.bytes(ALPHA)
    assert read["structuredContent"]["content"].encode() == data
    assert '"alpha" (yaml_repaired)' in overview["overview"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_folder_lists_its_direct_children_in_every_revision(
    place: Installation, revision: str
) -> None:
    """Folders as folders, without a slash at the end."""
    with Host(place, revision) as host:
        children = host.result("resources/directory/read", uri="skill://alpha")["resources"]
    assert [(child["uri"], child["mimeType"]) for child in children] == [
        (ALPHA, "text/markdown"),
        ("skill://alpha/references", "inode/directory"),
        ("skill://alpha/scripts", "inode/directory"),
    ]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "uri", [ALPHA, "skill://alpha/", "skill://nobody", "skill://", "alpha", "skill://group%2Fbeta"]
)
def test_what_is_no_folder_is_invalid(place: Installation, revision: str, uri: str) -> None:
    """Files, other spellings and what is not there."""
    with Host(place, revision) as host:
        error = host.error("resources/directory/read", uri=uri)
    assert (error["code"], error["data"]) == (-32602, {"code": "unknown_folder"})


def test_descending_from_a_skill_finds_exactly_the_files_of_its_entry(place: Installation) -> None:
    """Two views of one lock."""
    waiting, files = ["skill://alpha"], set[str]()
    with Host(place) as host:
        while waiting:
            (page,) = host.pages("resources/directory/read", "resources", uri=waiting.pop())
            folders = {row["uri"] for row in page if row["mimeType"] == "inode/directory"}
            waiting += folders
            files |= {row["uri"] for row in page} - folders
        entry = host.result("skills/get", uri=ALPHA)["skill"]
    assert files == {row["uri"] for row in entry["resources"]}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("method", "member", "params"),
    [
        ("skills/list", "skills", {}),
        ("resources/directory/read", "resources", {"uri": "skill://alpha"}),
    ],
)
def test_a_listing_in_pages_is_the_whole_listing(
    place: Installation,
    *,
    revision: str,
    method: str,
    member: str,
    params: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every entry is whole and on one page."""
    with Host(place, revision) as host:
        (whole,) = host.pages(method, member, **params)
        monkeypatch.setattr(limits, "LISTING_PAGE_MAX_BYTES", 1)
        pages = host.pages(method, member, **params)
    assert pages == [[entry] for entry in whole]


def test_a_cursor_of_another_listing_is_invalid(
    place: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A position means something in its own listing only."""
    monkeypatch.setattr(limits, "LISTING_PAGE_MAX_BYTES", 1)
    with Host(place) as host:
        cursor = host.result("resources/list")["nextCursor"]
        error = host.error("skills/list", cursor=cursor)
    assert error["data"] == {"code": "invalid_cursor"}


def test_a_cursor_of_another_folder_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder is a listing of its own."""
    place = InstalledBuilder(skills=dict.fromkeys(("a", "b"), SAMPLE["alpha"])).install(tmp_path)
    monkeypatch.setattr(limits, "LISTING_PAGE_MAX_BYTES", 1)
    with Host(place) as host:
        cursor = host.result("resources/directory/read", uri="skill://a")["nextCursor"]
        error = host.error("resources/directory/read", uri="skill://b", cursor=cursor)
    assert error["data"] == {"code": "invalid_cursor"}


def test_a_cursor_of_another_lock_is_invalid(
    place: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of two states must not be joined."""
    monkeypatch.setattr(limits, "LISTING_PAGE_MAX_BYTES", 1)
    with Host(place) as host:
        cursor = host.result("skills/list")["nextCursor"]
        InstalledBuilder(skills={**SAMPLE, "gamma": SAMPLE["alpha"]}).install(place.site)
        error = host.error("skills/list", cursor=cursor)
    assert error["data"] == {"code": "invalid_cursor"}


def test_a_large_skill_has_one_entry_in_one_response(tmp_path: Path) -> None:
    """512 files, the most there can be."""
    files = {f"references/{number:03}.md": b"x" for number in range(511)}
    skills = {"alpha": {**files, "SKILL.md": SAMPLE["alpha"]["SKILL.md"]}}
    with Host(InstalledBuilder(skills=skills).install(tmp_path)) as host:
        (entry,) = host.result("skills/list")["skills"]
    assert len(entry["resources"]) == 512


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", ["skills/list", "skills/get", "resources/directory/read"])
def test_without_a_lock_there_are_no_skills(
    place: Installation, revision: str, method: str
) -> None:
    """The code says why."""
    place.lock.unlink()
    with Host(place, revision) as host:
        error = host.error(method, uri=ALPHA)
    assert (error["code"], error["data"]) == (-32603, {"code": "catalog_unavailable"})


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/list", {}),
        ("skills/get", {"uri": ALPHA}),
        ("resources/directory/read", {"uri": "skill://alpha"}),
    ],
)
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_result_has_its_origin_and_on_2026_its_freshness(
    place: Installation, revision: str, method: str, params: dict[str, Any]
) -> None:
    """Older clients do not know the hints, so they get none."""
    with Host(place, revision) as host:
        answer = host.result(method, **params)
    hints = [name for name in ("resultType", "ttlMs", "cacheScope") if name in answer]
    assert hints == (["resultType", "ttlMs", "cacheScope"] if revision == DISCOVERY else [])
    assert host.provenance(answer)["source_provenance"]["integrity"] == "verified"


def test_non_ascii_names_are_served_under_their_one_uri(tmp_path: Path) -> None:
    """Percent-encoded, and as children of a percent-encoded folder."""
    skills = {"小说": {**SAMPLE["alpha"], "references/a b#c.md": b"# Odd\n"}}
    with Host(InstalledBuilder(skills=skills).install(tmp_path)) as host:
        folder = "skill://%E5%B0%8F%E8%AF%B4/references"
        children = host.result("resources/directory/read", uri=folder)["resources"]
        uri = children[0]["uri"]
        assert (uri, host.bytes(uri)) == (f"{folder}/a%20b%23c.md", b"# Odd\n")


def test_nothing_of_a_crash_reaches_the_client(
    place: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours is -32603 with a fixed text."""

    def crash(_: object) -> None:
        raise RuntimeError("secret detail")

    catalog = place.catalog()
    monkeypatch.setattr(catalog.sources[0], "rendered", crash)
    with Host(catalog) as host:
        assert host.error("skills/list") == {"code": -32603, "message": "Internal error."}
