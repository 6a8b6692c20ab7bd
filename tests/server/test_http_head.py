"""What a request's head alone decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.http.access import (
    Answer,
    Head,
    HostName,
    Route,
    Rules,
    check_head,
    cors_headers,
    parse_host,
    parse_origin,
)

TOKEN = "0123456789abcdef"  # noqa: S105 - not one
RULES = Rules(
    token_sha256=sha256_hex(TOKEN.encode()),
    hosts=frozenset({HostName("127.0.0.1"), HostName("skills.example", "8443")}),
    origins=frozenset({"https://app.example", "vscode-file://vscode-app", "app://."}),
)
GOOD = {
    "host": "127.0.0.1:8765",
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
}


def good_head(
    *more: tuple[str, str], method: str = "POST", path: str = "/mcp", **changed: str | None
) -> Head:
    """Return a good head with headers changed, left out (None) or added."""
    headers = {**GOOD, **{name.replace("_", "-"): value for name, value in changed.items()}}
    given = tuple((name, value) for name, value in headers.items() if value is not None)
    return Head(method=method, path=path, headers=(*given, *more))


def status(head: Head, rules: Rules = RULES) -> int | None:
    """Return the status a head is refused with, or None if it is good."""
    verdict = check_head(head, rules)
    return verdict.status if isinstance(verdict, Answer) else None


def test_a_good_head_goes_to_mcp() -> None:
    """The valid thing from which every other case differs in one part."""
    assert check_head(good_head(), RULES) is Route.MCP


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "127.0.0.1:8765@evil.example",
        "127.0.0.1:",
        "127.0.0.1:8765:1",
        "127.0.0.1 ",
        "127.0.0.1,evil.example",
        "localhost",
        "[::1]",
        "skills.example",
        "skills.example:1",
        "",
    ],
)
def test_a_name_that_is_not_ours_is_misdirected(host: str) -> None:
    """A page of a name that was rebound to our address sends that name."""
    assert status(good_head(host=host)) == 421


def test_a_head_without_a_name_is_misdirected() -> None:
    """HTTP/1.0 allows it; we do not."""
    assert status(good_head(host=None)) == 421


def test_two_names_are_misdirected() -> None:
    """Whoever stands before us may have looked at the other one."""
    assert status(good_head(("host", "127.0.0.1"))) == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "Skills.EXAMPLE:8443"])
def test_our_names_are_known_in_any_case_and_with_any_port_unless_one_is_given(host: str) -> None:
    """Names are not case-sensitive."""
    assert status(good_head(host=host)) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://app.example",
        "https://app.example:1",
        "https://app.example.evil.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "http://127.0.0.1.nip.example:80",
        "file://localhost",
        "tauri://localhost",
        "app://-",
        "file://",
        "",
    ],
)
def test_a_page_of_another_origin_is_forbidden(origin: str) -> None:
    """Not even with the token."""
    assert status(good_head(origin=origin)) == 403


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:1"]
)
def test_pages_of_this_machine_may_ask_a_server_of_this_machine(origin: str) -> None:
    """Local development tools do."""
    assert status(good_head(origin=origin)) is None


def test_pages_of_their_own_machine_may_not_ask_a_server_for_others() -> None:
    """Its clients' machines are not this one."""
    exposed = replace(RULES, loopback=False)
    assert status(good_head(origin="http://localhost:6274"), exposed) == 403


def test_an_allowed_origin_may_ask() -> None:
    """In any case."""
    assert status(good_head(origin="HTTPS://app.example")) is None


def test_an_allowed_origin_may_read_the_answer() -> None:
    """A browser asks for this header."""
    given = cors_headers(good_head(origin="https://app.example"), RULES)
    assert ("access-control-allow-origin", "https://app.example") in given


@pytest.mark.parametrize(
    "origin",
    [
        "vscode-file://vscode-app",
        "app://obsidian.md",
        "tauri://localhost",
        "chrome-extension://cjpalhdlnbpafiamejdnhcphjbkeiagm",
    ],
)
def test_the_refusal_of_an_origin_names_an_option_that_allows_it(origin: str) -> None:
    """Desktop programs have schemes of their own."""
    refused = check_head(good_head(origin=origin), replace(RULES, origins=frozenset()))
    assert isinstance(refused, Answer)
    allowed = parse_origin(origin)
    assert ("--allowed-origin" in refused.text, allowed) == (True, origin)
    assert status(good_head(origin=origin), replace(RULES, origins=frozenset({origin}))) is None


@pytest.mark.parametrize("origin", ["null", "file://", ""])
def test_the_refusal_of_what_is_no_single_origin_names_no_option(origin: str) -> None:
    """No option can allow it: many pages share it."""
    refused = check_head(good_head(origin=origin), RULES)
    assert isinstance(refused, Answer)
    assert ("--allowed-origin" in refused.text, parse_origin(origin)) == (False, None)


def test_only_pages_of_a_local_server_may_read_its_answers() -> None:
    """A page of the client's machine may not read what a team's server answers."""
    local = good_head(origin="http://localhost:6274")
    assert cors_headers(local, RULES) != ()
    assert cors_headers(local, replace(RULES, loopback=False)) == ()


@pytest.mark.parametrize(
    "origin", ["https://app.example", "vscode-file://vscode-app", "http://localhost:6274"]
)
def test_a_browser_may_ask_first_without_the_token(origin: str) -> None:
    """It cannot send it with that question."""
    preflight = good_head(method="OPTIONS", origin=origin, authorization=None)
    assert status(preflight) == 204


def test_a_browser_is_told_nothing_for_another_origin() -> None:
    """Its question is refused like any other."""
    assert status(good_head(method="OPTIONS", origin="https://evil.example")) == 403


@pytest.mark.parametrize(
    "value",
    [
        TOKEN,
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {sha256_hex(TOKEN.encode())}",
        "Bearer \u00e9\u00ff",
    ],
)
def test_a_wrong_token_is_unauthorized(value: str) -> None:
    """Whatever is wrong with it."""
    assert status(good_head(authorization=value)) == 401


def test_two_tokens_are_unauthorized() -> None:
    """Also if one of them is right."""
    assert status(good_head(("authorization", f"Bearer {TOKEN}"))) == 401


def test_a_missing_token_is_asked_for() -> None:
    """RFC 6750, section 3: the challenge, without an error where nothing was tried."""
    verdict = check_head(good_head(authorization=None), RULES)
    assert isinstance(verdict, Answer)
    assert (verdict.status, verdict.headers) == (401, (("www-authenticate", "Bearer"),))


def test_the_scheme_is_known_in_any_case() -> None:
    """RFC 9110, section 11.1."""
    assert status(good_head(authorization=f"bearer {TOKEN}")) is None


def test_no_token_is_asked_for_where_there_is_none() -> None:
    """On this machine alone."""
    assert status(good_head(authorization=None), replace(RULES, token_sha256=None)) is None


def test_rules_do_not_hold_the_token() -> None:
    """So no trace can show it."""
    assert TOKEN not in repr(RULES)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "post"])
def test_only_post_is_allowed_at_mcp(method: str) -> None:
    """There are no sessions to end and no streams to open."""
    assert status(good_head(method=method)) == 405


@pytest.mark.parametrize("path", ["/", "/mcp/", "/MCP", "/mcp/x", "//mcp", "http://x/mcp", "*"])
def test_nothing_is_found_elsewhere(path: str) -> None:
    """One path, exactly."""
    assert status(good_head(path=path)) == 404


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "text/plain",
        "application/jsonl",
        "application/json-patch+json",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "text/plain, application/json",
    ],
)
def test_another_media_type_is_unsupported(value: str | None) -> None:
    """A browser sends `text/plain` across origins without asking first."""
    assert status(good_head(content_type=value)) == 415


@pytest.mark.parametrize("value", ["Application/JSON", 'application/json; charset="UTF-8"'])
def test_json_in_utf8_is_supported_however_it_is_written(value: str) -> None:
    """RFC 9110, section 8.3."""
    assert status(good_head(content_type=value)) is None


def test_a_compressed_body_is_unsupported() -> None:
    """A megabyte can unfold to a thousand."""
    assert status(good_head(content_encoding="gzip")) == 415


@pytest.mark.parametrize(
    ("length", "answer"),
    [(limits.HTTP_BODY_MAX_BYTES, None), (limits.HTTP_BODY_MAX_BYTES + 1, 413), (10**40, 413)],
)
def test_a_body_that_will_be_too_long_is_not_begun(length: int, answer: int | None) -> None:
    """The length alone refuses it."""
    assert status(good_head(content_length=str(length))) == answer


def test_a_body_with_two_lengths_closes_the_connection() -> None:
    """Request smuggling: the proxy before us may have read the other one."""
    verdict = check_head(good_head(content_length="1", transfer_encoding="chunked"), RULES)
    assert isinstance(verdict, Answer)
    assert (verdict.status, verdict.headers) == (400, (("connection", "close"),))


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_probe_needs_no_token_and_no_name(method: str) -> None:
    """Load balancers ask by address."""
    head = Head(method=method, path="/healthz", headers=(("host", "10.0.0.7:8765"),))
    assert check_head(head, RULES) is Route.HEALTH


def test_a_probe_changes_nothing() -> None:
    """It is read, never written."""
    assert status(good_head(method="POST", path="/healthz")) == 405


@pytest.mark.parametrize("check", [parse_host, parse_origin])
@pytest.mark.parametrize("text", ["", " ", "a b", "https://x/y", "x/y", "[", "\u00e9", "x\n", "*"])
def test_what_is_no_name_is_none(check: object, text: str) -> None:
    """Neither host nor origin."""
    assert callable(check)
    assert check(text) is None


def test_a_probe_is_bounded_like_any_request() -> None:
    """Anybody may send one."""
    head = Head(method="GET", path="/healthz", headers=(), size=limits.HTTP_HEAD_MAX_BYTES + 1)
    assert status(head) == 431
