"""MCP resources in every revision, over a real installation and the real transport."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits as catalog_limits
from skills_bundle.server import limits
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder
from tests.server.host import Host
from tests.server.peer import DISCOVERY, HANDSHAKES, REVISIONS, call

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

ALPHA = "skill://alpha/SKILL.md"
LOGO = "skill://group/beta/assets/logo.bin"
EVERY_FILE = [f"skill://{path}/{one}" for path, files in SAMPLE.items() for one in files]


@pytest.fixture
def place(tmp_path: Path) -> Installation:
    """Return an installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_locked_file_is_listed_in_every_revision(place: Installation, revision: str) -> None:
    """In the order of the lock."""
    with Host(place, revision) as host:
        listed = host.result("resources/list")["resources"]
    assert [resource["uri"] for resource in listed] == EVERY_FILE


@pytest.mark.parametrize("revision", REVISIONS)
def test_text_is_read_as_text_in_every_revision(place: Installation, revision: str) -> None:
    """With its media type, under the URI that was asked for."""
    with Host(place, revision) as host:
        (contents,) = host.result("resources/read", uri=ALPHA)["contents"]
    text = SAMPLE["alpha"]["SKILL.md"].decode()
    assert contents == {"uri": ALPHA, "mimeType": "text/markdown", "text": text}


@pytest.mark.parametrize("revision", REVISIONS)
def test_other_bytes_are_read_as_a_blob_in_every_revision(
    place: Installation, revision: str
) -> None:
    """Base64, byte for byte."""
    with Host(place, revision) as host:
        (contents,) = host.result("resources/read", uri=LOGO)["contents"]
    blob = base64.b64encode(SAMPLE["group/beta"]["assets/logo.bin"]).decode()
    assert contents == {"uri": LOGO, "mimeType": "application/octet-stream", "blob": blob}


@pytest.mark.parametrize("uri", EVERY_FILE)
def test_every_listed_uri_reads_as_the_bytes_on_disk(place: Installation, uri: str) -> None:
    """Scripts included, whatever the tools may read."""
    with Host(place) as host:
        data = host.bytes(uri)
    assert data == (place.skills / uri.removeprefix("skill://")).read_bytes()


@pytest.mark.parametrize(
    "data",
    [b"", b"\xef\xbb\xbf# Mark\n", b"a\r\nb\rc\n", b"nul \0 and \x1b", "\u2028 😀".encode()],
    ids=repr,
)
def test_text_keeps_each_of_its_bytes(tmp_path: Path, data: bytes) -> None:
    """Byte order mark, line ends and control characters: the digest is of all of them."""
    files = {**SAMPLE["alpha"], "references/odd.md": data}
    place = InstalledBuilder(skills={"alpha": files}).install(tmp_path)
    with Host(place) as host:
        assert host.bytes("skill://alpha/references/odd.md") == data


@pytest.mark.parametrize("revision", REVISIONS)
def test_there_are_no_templates_in_any_revision(place: Installation, revision: str) -> None:
    """Every URI there is, is listed."""
    with Host(place, revision) as host:
        assert host.result("resources/templates/list")["resourceTemplates"] == []


@pytest.mark.parametrize(
    ("revision", "number"), [*((one, -32002) for one in HANDSHAKES), (DISCOVERY, -32602)]
)
@pytest.mark.parametrize(
    "uri",
    [
        "skill://nobody/SKILL.md",
        "skill://alpha",
        "skill://alpha/",
        "skill://alpha/../alpha/SKILL.md",
        "skill://alpha/%2e%2e/alpha/SKILL.md",
        "skill://ALPHA/SKILL.md",
        "skill://alpha/skill.md",
        "skill://alpha\\SKILL.md",
        "skill://alpha/SKILL.md\0",
        "skill://catalog.lock.json",
        "file:///etc/passwd",
        "/etc/passwd",
        "",
        "x" * 100_000,
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_not_locked_is_not_found(
    place: Installation, revision: str, number: int, uri: str
) -> None:
    """With the number that its revision gives it, one code, and nothing repeated."""
    with Host(place, revision) as host:
        error = host.error("resources/read", uri=uri)
    assert (error["code"], error["data"]) == (number, {"code": "unknown_resource"})
    assert len(uri) < 4 or uri not in error["message"]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("alter", ["changed", "missing", "linked"])
def test_an_altered_file_is_refused_by_code(place: Installation, revision: str, alter: str) -> None:
    """It exists, so it is not "not found"; and it is not served."""
    target = place.skills / "alpha/SKILL.md"
    data = target.read_bytes()
    target.unlink()
    if alter == "changed":
        target.write_bytes(data.upper())
    elif alter == "linked":
        (place.site / "elsewhere.md").write_bytes(data)
        target.symlink_to(place.site / "elsewhere.md")
    with Host(place, revision) as host:
        error = host.error("resources/read", uri=ALPHA)
    assert (error["code"], error["data"]) == (-32603, {"code": "altered_file"})
    assert str(place.site) not in json.dumps(error)


def test_the_other_files_of_an_altered_skill_are_served(place: Installation) -> None:
    """And the answer says that something is altered."""
    (place.skills / "alpha/SKILL.md").write_bytes(b"x")
    with Host(place) as host:
        answer = host.result("resources/read", uri="skill://alpha/scripts/run.py")
    assert answer["contents"][0]["text"] == "print('alpha')\n"
    assert host.provenance(answer)["gaps"] == ["altered_files"]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "resources/read"])
def test_without_a_lock_nothing_is_listed_or_read(
    place: Installation, revision: str, method: str
) -> None:
    """The code says why, as that of the tools does."""
    place.lock.unlink()
    with Host(place, revision) as host:
        error = host.error(method, uri=ALPHA)
    assert (error["code"], error["data"]) == (-32603, {"code": "catalog_unavailable"})


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_listing_in_pages_is_the_whole_listing(
    place: Installation, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each resource once, in order."""
    monkeypatch.setattr(catalog_limits, "LISTING_PAGE_MAX_BYTES", 200)
    with Host(place, revision) as host:
        pages = host.pages("resources/list", "resources")
    assert len(pages) > 2
    assert [resource["uri"] for page in pages for resource in page] == EVERY_FILE


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list"])
@pytest.mark.parametrize("cursor", ["", "2", "AAAAAAAAAAAAAAAA", "é", "A" * 10_000])
def test_a_cursor_that_is_not_ours_is_invalid(
    place: Installation, method: str, cursor: str
) -> None:
    """-32602, whatever it looks like."""
    with Host(place) as host:
        error = host.error(method, cursor=cursor)
    assert (error["code"], error["data"]) == (-32602, {"code": "invalid_cursor"})


def test_a_file_too_large_for_a_response_is_an_error_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    """Named by the code `response_too_large`."""
    files = {**SAMPLE["alpha"], "assets/big.txt": b"x" * limits.RESPONSE_LINE_MAX_BYTES}
    place = InstalledBuilder(skills={"alpha": files}).install(tmp_path)
    with Host(place) as host:
        error = host.error("resources/read", uri="skill://alpha/assets/big.txt")
        assert host.bytes(ALPHA) == SAMPLE["alpha"]["SKILL.md"]
    assert (error["code"], error["data"]) == (-32603, {"code": "response_too_large"})


@pytest.mark.parametrize("byte", [b"\xff", b"\0", b'"', b"x"], ids=repr)
def test_a_file_of_a_listed_skill_is_read_whatever_it_holds(tmp_path: Path, byte: bytes) -> None:
    """Text that escapes make too long comes as base64."""
    data = byte * catalog_limits.RESOURCE_FILE_MAX_BYTES
    place = InstalledBuilder(skills={"alpha": {**SAMPLE["alpha"], "big": data}}).install(tmp_path)
    with Host(place) as host:
        assert len(host.result("skills/list")["skills"]) == 1
        assert host.bytes("skill://alpha/big") == data


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": ALPHA}),
    ],
)
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_result_says_where_it_comes_from(
    place: Installation, revision: str, method: str, params: dict[str, Any]
) -> None:
    """The same block as the tools', under our own prefix."""
    with Host(place, revision) as host:
        found = host.provenance(host.result(method, **params))
        told = host.ask(call("skill_catalog_search", {}, 9, revision))
    text = told["result"]["content"][0]["text"]
    assert found == json.loads(text)["provenance"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_cache_hints_are_of_2026_only_and_private(place: Installation, revision: str) -> None:
    """Older clients do not know them; skills may not be for everybody."""
    with Host(place, revision) as host:
        answer = host.result("resources/read", uri=ALPHA)
    hints = (answer.get("ttlMs"), answer.get("cacheScope"))
    fresh = (limits.LISTING_TTL_MILLISECONDS, "private")
    assert hints == (fresh if revision == DISCOVERY else (None, None))
