"""Which options for HTTP are accepted, and what is said of the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import Problem
from skills_bundle.server import limits
from skills_bundle.server.http.access import (
    HostName,
    HttpOptions,
    HttpOptionsError,
    HttpSettings,
    check_options,
)
from skills_bundle.server.http.serve import read_token, resolve

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = b"0123456789abcdef"
EXPOSED = HttpOptions(address="0.0.0.0:8765", token=TOKEN, hosts=("skills.example",))
KNOWN = {"localhost": "127.0.0.1", "machine": "10.0.0.7"}


def checked(options: HttpOptions) -> HttpSettings:
    """Check options with names that resolve without a network."""
    return check_options(options, lambda host: KNOWN.get(host, host))


def codes(options: HttpOptions) -> list[str]:
    """Return the codes of every problem."""
    with pytest.raises(HttpOptionsError) as caught:
        checked(options)
    return [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("address", "ip", "port"),
    [
        ("127.0.0.1:8765", "127.0.0.1", 8765),
        ("localhost:0", "127.0.0.1", 0),
        ("[::1]:65535", "::1", 65535),
        ("127.8.9.10:1", "127.8.9.10", 1),
    ],
)
def test_this_machine_is_served_without_a_token(address: str, ip: str, port: int) -> None:
    """Every loopback address."""
    settings = checked(HttpOptions(address=address))
    assert (settings.ip, settings.port, settings.rules.loopback) == (ip, port, True)


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1", ":8765", "8765", "::1:8765", "127.0.0.1:65536", "127.0.0.1:x", "http://x:1"],
)
def test_what_is_no_address_is_a_problem(address: str) -> None:
    """Nothing is guessed: in some programs `:8765` is every address."""
    assert codes(HttpOptions(address=address)) == ["address"]


def test_a_host_that_is_not_known_is_a_problem() -> None:
    """Its address cannot be listened on."""
    with pytest.raises(HttpOptionsError) as caught:
        check_options(HttpOptions(address="nowhere:1"), lambda _: None)
    assert [problem.code for problem in caught.value.problems] == ["address"]


@pytest.mark.parametrize("address", ["10.0.0.7:1", "machine:1", "[2001:db8::1]:1"])
def test_an_address_others_reach_needs_a_token(address: str) -> None:
    """By name or by number."""
    assert codes(HttpOptions(address=address)) == ["token"]


@pytest.mark.parametrize("address", ["0.0.0.0:1", "[::]:1", "[::ffff:0.0.0.0]:1"])
def test_every_address_at_once_needs_a_token_and_a_name(address: str) -> None:
    """Both are said in one run."""
    assert codes(HttpOptions(address=address))[:1] == ["token"]


def test_every_address_at_once_needs_a_name() -> None:
    """It cannot be known what clients call us."""
    assert codes(HttpOptions(address="[::]:1", token=TOKEN)) == ["host"]


def test_an_address_that_looks_local_to_one_family_only_needs_a_token() -> None:
    """IPv4 inside IPv6 is not taken for this machine."""
    assert codes(HttpOptions(address="[::ffff:10.0.0.7]:1")) == ["token"]


@pytest.mark.parametrize("address", ["[::ffff:0.0.0.0]:1", "[::ffff:0:0]:1"])
def test_every_address_in_another_writing_needs_a_name(address: str) -> None:
    """It is the same address."""
    assert codes(HttpOptions(address=address, token=TOKEN)) == ["host"]


@pytest.mark.parametrize(("mode", "lines_"), [(0o600, 0), (0o640, 1), (0o602, 1)])
def test_a_token_that_others_can_reach_is_reported(
    mode: int, lines_: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Read it is, all the same, and nothing of it or of its path is repeated."""
    file = tmp_path / "token"
    file.write_bytes(TOKEN)
    file.chmod(mode)
    token = read_token(None, str(file), {})
    log = capfd.readouterr().err
    assert (token, log.count("\n"), str(tmp_path) in log) == (TOKEN, lines_, False)


def test_of_what_is_no_file_one_line_is_read(tmp_path: Path) -> None:
    """A pipe may stay open for good."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)
    try:
        os.write(end, TOKEN + b"\nmore")
        assert read_token(None, str(fifo), {}) == TOKEN + b"\n"
    finally:
        os.close(end)


def test_every_problem_is_said_at_once() -> None:
    """One run is enough to fix the command."""
    options = HttpOptions(
        address="x",
        token=b"short",
        hosts=("a b", "ok"),
        origins=("x", "https://x/"),
    )
    assert codes(options) == ["address", "token", "host", "origin"]


def test_a_safe_server_for_others_is_accepted() -> None:
    """With token and name."""
    assert checked(EXPOSED).rules.token_sha256 is not None


def test_an_exposed_server_answers_to_its_names_only() -> None:
    """`localhost` of a client's machine is not one of them."""
    assert checked(EXPOSED).rules.hosts == {HostName("skills.example"), HostName("0.0.0.0")}  # noqa: S104 - likewise


def test_a_local_server_answers_to_the_names_of_this_machine() -> None:
    """Whichever of them it listens on."""
    names = {HostName(name) for name in ("localhost", "127.0.0.1", "[::1]")}
    assert checked(HttpOptions(address="[::1]:1")).rules.hosts == names


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
def test_the_end_of_a_tokens_file_is_not_part_of_the_token(end: bytes) -> None:
    """Editors and `echo` put one there."""
    one, other = (HttpOptions(address="10.0.0.7:1", token=token) for token in (TOKEN, TOKEN + end))
    assert checked(one) == checked(other)


@pytest.mark.parametrize(
    "token",
    [b"", b"\n", b"0123456789abcde", b"0123456789 abcdef", b"0123456789abcd\xff\x00", b"x" * 1025],
)
def test_a_token_that_is_weak_or_cannot_be_sent_is_a_problem(token: bytes) -> None:
    """RFC 6750, section 2.1, and enough characters not to be guessed."""
    assert codes(HttpOptions(address="127.0.0.1:1", token=token)) == ["token"]


def test_a_bad_token_is_not_repeated() -> None:
    """Nowhere in the error."""
    with pytest.raises(HttpOptionsError) as caught:
        checked(HttpOptions(address="127.0.0.1:1", token=b"hunter2"))
    assert "hunter2" not in str(caught.value)


def test_a_token_comes_from_the_named_variable() -> None:
    """And from no other."""
    assert read_token("TEAM_TOKEN", None, {"TEAM_TOKEN": "x"}) == b"x"


def test_a_token_comes_from_the_named_file(tmp_path: Path) -> None:
    """As service managers hand over secrets."""
    file = tmp_path / "token"
    file.write_bytes(TOKEN)
    assert read_token(None, str(file), {}) == TOKEN


@pytest.mark.parametrize(
    ("variable", "file"),
    [("s3cret-value", None), (None, "s3cret-value"), (None, "s3cret\0value"), ("s3cret", "s3cret")],
)
def test_an_option_that_names_no_token_is_not_repeated(
    variable: str | None, file: str | None
) -> None:
    """A user may have put the token itself there."""
    problem = read_token(variable, file, {})
    assert isinstance(problem, Problem)
    assert "s3cret" not in str(problem)


def test_no_more_of_a_file_is_read_than_a_token_can_have() -> None:
    """A device that never ends does not keep us."""
    token = read_token(None, "/dev/zero", {})
    assert isinstance(token, bytes)
    assert len(token) == limits.TOKEN_MAX_CHARACTERS * 2


@pytest.mark.parametrize(("host", "ip"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1")])
def test_an_address_stands_for_itself(host: str, ip: str) -> None:
    """Without a network."""
    assert resolve(host) == ip


def test_a_host_that_is_no_name_has_no_address() -> None:
    """Without asking a name server."""
    assert resolve("x" * 70 + ".") is None
