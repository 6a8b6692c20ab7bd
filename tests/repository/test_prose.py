"""The documentation speaks of this project alone, in forms that the other tests can read."""

from __future__ import annotations

import re

from skills_bundle import __version__
from tests.repository.pages import pages

ABSOLUTE_PATH = re.compile(r"(?<![\w./:~<>*{}\]|%-])/[a-z]+/[a-z]")
EXAMPLES = re.compile("/(home/you|tmp|etc/ssl)/")
TICKET = re.compile(r"(?<![\w&])#\d+\b")
HOST = re.compile(r"https?://([^/\s)`\";]+)")
KNOWN_HOSTS = {
    "127.0.0.1:8767",
    "acme.example",
    "adr.github.io",
    "agentskills.io",
    "astral.sh",
    "cyclonedx.org",
    "diataxis.fr",
    "docs.astral.sh",
    "github.com",
    "hatch.pypa.io",
    "in-toto.io",
    "json-schema.org",
    "keepachangelog.com",
    "modelcontextprotocol.io",
    "nox.thea.codes",
    "packaging.python.org",
    "peps.python.org",
    "pipx.pypa.io",
    "semver.org",
    "skills",  # an upstream in a configuration of nginx
    "slsa.dev",
    "www.swhid.org",
    "yaml.org",
}
PIN = re.compile(r"\bskills-bundle(?:\[\w+\])?==([\w.]+)")
LANGUAGES = {
    "console",
    "json",
    "markdown",
    "python",
    "text",
    "toml",
    "yaml",
    "{toctree}",
}


def test_no_page_names_a_path_of_a_machine() -> None:
    """A page that names a folder of its writer's machine is wrong on every other one."""
    found = [
        f"{each.name}: {line}"
        for each in pages()
        for line in each.text.splitlines()
        if ABSOLUTE_PATH.search(EXAMPLES.sub("", line))
    ]
    assert found == []


def test_no_page_names_a_ticket() -> None:
    """A number in a tracker explains nothing; the reason itself does."""
    assert [
        f"{each.name}: {found}" for each in pages() for found in TICKET.findall(each.text)
    ] == []


def test_every_link_to_the_outside_goes_to_a_known_host() -> None:
    """A new host is a deliberate choice: it has to stay reachable and to speak of the matter."""
    hosts = {host for each in pages() for host in HOST.findall(each.text)}
    assert sorted(hosts - KNOWN_HOSTS) == []


def test_every_pin_of_this_project_names_the_current_version() -> None:
    """A command that is copied installs what the page describes."""
    wrong = [
        f"{each.name}: {pin}"
        for each in pages()
        for pin in PIN.findall(each.text)
        if pin != __version__
    ]
    assert wrong == []


def test_every_block_names_a_known_language() -> None:
    """Commands stand in `console` blocks only, so none escapes the test that runs them."""
    unknown = [
        f"{each.name}:{block.line}: {block.language!r}"
        for each in pages()
        for block in each.blocks()
        if block.language not in LANGUAGES
    ]
    assert unknown == []


def test_every_console_block_holds_a_command() -> None:
    """A transcript without a command would be output that nothing checks."""
    empty = [
        f"{each.name}:{block.line}"
        for each in pages()
        for block in each.blocks()
        if block.language == "console" and not block.text.startswith("$ ")
    ]
    assert empty == []


def test_no_other_block_looks_like_a_command() -> None:
    """A prompt in a `text` block would be a command that nothing runs."""
    hidden = [
        f"{each.name}:{block.line}"
        for each in pages()
        for block in each.blocks()
        if block.language != "console" and re.search(r"^\$ ", block.text, re.MULTILINE)
    ]
    assert hidden == []
