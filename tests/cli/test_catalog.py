"""`catalog search|read|overview`: the tools' answers, for programs and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits
from skills_bundle.catalog.service import Catalog
from skills_bundle.cli.commands.catalog import read_to_end
from skills_bundle.cli.view.catalog import ReadRequest, explain_refusal
from skills_bundle.errors import UnsafeFileError
from tests.cli.installed import LONG, install
from tests.cli.runner import call, on_terminal
from tests.installed_builder import InstalledBuilder
from tests.server.host import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.catalog.model import ReadResult
    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran

    Ask = Callable[..., Ran]

pytestmark = pytest.mark.slow

SKILL = b"---\nname: alpha\ndescription: First letters.\n---\n\n# Alpha\n"


def _tool(place: OwnInstallation, name: str, arguments: dict[str, Any]) -> Any:
    """Call a tool as the server would."""
    answer: Any = tools_of(place.catalog()).call(name, arguments)
    return answer["structuredContent"]


@pytest.mark.parametrize(
    ("arguments", "tool", "given"),
    [
        (["search"], "skill_catalog_search", {}),
        (["search", "LETTERS"], "skill_catalog_search", {"query": "LETTERS"}),
        (
            ["search", "--query", "-", "--limit", "1", "--offset", "3"],
            "skill_catalog_search",
            {"query": "-", "limit": 1, "offset": 3},
        ),
        (["read", "alpha"], "skill_resource_read", {"skill": "alpha"}),
        (
            ["read", "long", "references/long.md", "--offset", "7", "--limit", "64"],
            "skill_resource_read",
            {"skill": "long", "resource": "references/long.md", "offset": 7, "limit": 64},
        ),
        (
            ["read", "long", "references/long.md"],
            "skill_resource_read",
            {"skill": "long", "resource": "references/long.md"},
        ),
        (["read", "no-such-skill"], "skill_resource_read", {"skill": "no-such-skill"}),
        (
            ["read", "alpha", "../beta/SKILL.md"],
            "skill_resource_read",
            {"skill": "alpha", "resource": "../beta/SKILL.md"},
        ),
        (["overview", "--max-entries", "1"], "skill_catalog_overview", {"max_entries": 1}),
    ],
)
def test_json_is_exactly_the_tools_structured_answer(
    whole: OwnInstallation, ask_whole: Ask, arguments: list[str], tool: str, given: dict[str, Any]
) -> None:
    """A program may use either; refusals have the same code and sentence."""
    document = ask_whole("catalog", *arguments, "--json").json
    answer = _tool(whole, tool, given)
    if "error" in answer:
        document = {"error": {key: document["error"][key] for key in ("code", "message")}}
    assert document == answer


def test_a_search_is_a_table_with_its_numbers(ask_whole: Ask) -> None:
    """A person sees the skills by path, and how many there are."""
    ran = ask_whole("catalog", "search")
    assert ran.code == 0
    assert "group/beta" in ran.stdout
    assert ran.stdout.rstrip().endswith("1 to 3 of 3 skills")


def test_a_search_says_how_to_see_more(ask_whole: Ask) -> None:
    """The next page's option is on standard error, out of the table's way."""
    ran = ask_whole("catalog", "search", "--limit", "2")
    assert "1 to 2 of 3 skills" in ran.stdout
    assert "add --offset 2." in ran.stderr


def test_verbose_shows_whole_descriptions(tmp_path: Path) -> None:
    """Long ones are cut and marked in the table, and whole on request."""
    description = "word " * 100 + "end."
    made = install(tmp_path / "environment", {"alpha": {"description": description}})
    cut, whole = made.ask("catalog", "search"), made.ask("catalog", "search", "--verbose")
    assert "end." not in cut.stdout
    assert "--verbose" in cut.stderr
    assert "end." in whole.stdout


def test_a_search_without_a_match_says_so_and_succeeds(ask_whole: Ask) -> None:
    """Nothing found is an answer."""
    ran = ask_whole("catalog", "search", "no such thing")
    assert (ran.code, ran.stdout) == (0, "")
    assert "No skill contains 'no such thing'" in ran.stderr
    assert "one literal phrase" in ran.stderr


def test_several_words_are_one_phrase(ask_whole: Ask) -> None:
    """As typed, without quotes."""
    answers = [
        ask_whole("catalog", "search", *words, "--json").stdout
        for words in (["first", "letters"], ["first letters"])
    ]
    assert answers[0] == answers[1]
    assert '"query": "first letters"' in answers[0]


def test_a_query_is_given_once() -> None:
    """Both ways at once is a mistake."""
    ran = call("catalog", "search", "a", "--query", "b")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Use either QUERY or --query" in ran.stderr


def test_a_read_into_a_pipe_gives_the_exact_bytes(ask_whole: Ask) -> None:
    """`> FILE` makes the file that was locked."""
    ran = ask_whole("catalog", "read", "alpha")
    assert (ran.code, ran.stdout.encode(), ran.stderr) == (0, SKILL, "")


def test_a_long_file_is_read_whole(ask_whole: Ask) -> None:
    """A person asks for a file and not for a page."""
    ran = ask_whole("catalog", "read", "long", "references/long.md")
    assert ran.stdout.encode() == LONG


class Replaced(Catalog):
    """A catalog whose file is another one from the second page on."""

    def read(self, *arguments: Any, **named: Any) -> ReadResult:
        """Answer with another digest."""
        page = super().read(*arguments, **named)
        return page.model_copy(update={"content_sha256": "0" * 64})


def test_pages_of_two_versions_are_never_joined(tmp_path: Path) -> None:
    """A file that is replaced while it is read is an error, not a mixture."""
    text = b"x" * (limits.READ_DEFAULT_LIMIT + 1)
    made = InstalledBuilder(skills={"long": {"SKILL.md": text}}).install(tmp_path)
    first = made.catalog().read("long")
    with pytest.raises(UnsafeFileError, match="changed"):
        read_to_end(Replaced({"acme-skills": made.open()}), first)


def test_a_name_that_two_skills_share_is_explained_with_their_paths(tmp_path: Path) -> None:
    """A read of the first one would be a silent choice."""
    skills = {path: {"SKILL.md": SKILL} for path in ("a/alpha", "b/alpha")}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog()
    request = ReadRequest("alpha", "SKILL.md", "markdown")
    assert explain_refusal(catalog, request).endswith("Use a path instead: a/alpha, b/alpha.")


def test_a_limit_gives_one_page_and_says_how_to_go_on(ask_whole: Ask) -> None:
    """What is left, and the option for it, are on standard error."""
    ran = ask_whole("catalog", "read", "long", "references/long.md", "--limit", "7")
    assert ran.stdout == "# Long\n"
    assert f"{len(LONG) - 7:,} bytes left. To continue, add --offset 7." in ran.stderr


def test_a_read_on_a_terminal_is_laid_out_with_its_source(whole: OwnInstallation) -> None:
    """Headings instead of hashes, then digest and provenance."""
    ran = on_terminal("catalog", "read", "alpha", python=whole.python)
    assert ran.code == 0
    assert "# Alpha" not in ran.stdout
    assert "Alpha" in ran.stdout
    assert "alpha/SKILL.md" in ran.stdout
    assert "asserted, not proved: " in ran.stdout


def test_raw_on_a_terminal_is_the_text_alone(whole: OwnInstallation) -> None:
    """The terminal makes line feeds CR LF; nothing else is touched."""
    ran = on_terminal(
        *("catalog", "read", "alpha", "--raw"),
        python=whole.python,
    )
    assert ran.stdout.replace("\r\n", "\n").encode() == SKILL


def test_an_altered_file_is_not_printed_and_is_named(place: OwnInstallation) -> None:
    """Exit 1; a person is told which file it is."""
    (place.skills / "alpha/SKILL.md").write_bytes(SKILL.replace(b"Alpha", b"Omega"))
    ran = place.ask("catalog", "read", "alpha")
    assert (ran.code, ran.stdout) == (1, "")
    assert "alpha/SKILL.md: does not have the expected content" in ran.stderr
    assert "`skills-bundle verify`" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["alpa"], "There is no skill 'alpa'. Did you mean 'alpha'?"),
        (["alpha", "nope.md"], "alpha has no file 'nope.md'. Its files: SKILL.md, references/"),
        (["alpha", "guide.md"], "Did you mean 'references/guide.md'?"),
        (["alpha", "nope.md"], "scripts/run.py"),
        (
            ["alpha", "scripts/run.py", "--resources", "markdown"],
            "alpha/scripts/run.py exists, but only SKILL.md and",
        ),
        (["beta", "../alpha/SKILL.md"], "group/beta has no file '../alpha/SKILL.md'."),
        (["long", "references/long.md", "--offset", "8"], "inside a character"),
    ],
)
def test_a_refused_read_says_what_there_is(ask_whole: Ask, arguments: list[str], told: str) -> None:
    """In the words of the command line, and not of a tool's input schema."""
    ran = ask_whole("catalog", "read", *arguments)
    assert ran.stdout == ""
    assert told in ran.stderr
    assert "schema" not in ran.stderr


def test_scripts_are_read_unless_narrowed(ask_whole: Ask) -> None:
    """The same default as the server's, and the option that narrows it."""
    refused = ask_whole("catalog", "read", "alpha", "scripts/run.py", "--resources", "markdown")
    assert (refused.code, refused.stdout) == (2, "")
    assert "--resources all" in refused.stderr
    allowed = ask_whole("catalog", "read", "alpha", "scripts/run.py")
    assert allowed.stdout == "print('alpha')\n"


def test_an_unknown_skill_exits_1_and_says_where_to_look(ask_whole: Ask) -> None:
    """The next step is a command."""
    ran = ask_whole("catalog", "read", "no-such-skill")
    assert (ran.code, ran.stdout) == (1, "")
    assert "`skills-bundle catalog search`" in ran.stderr


@pytest.mark.parametrize("command", [["search"], ["read", "alpha"], ["overview"]])
def test_without_a_lock_the_catalog_is_unavailable(
    place: OwnInstallation, command: list[str]
) -> None:
    """Exit 3, and the cause for the person at the machine."""
    place.lock.unlink()
    ran = place.ask("catalog", *command)
    assert (ran.code, ran.stdout) == (3, "")
    assert "skills-bundle verify" in ran.stderr
    assert "catalog.lock.json" in ran.stderr


def test_the_overview_is_the_tools_text(whole: OwnInstallation, ask_whole: Ask) -> None:
    """What agents are given, to the letter."""
    text = _tool(whole, "skill_catalog_overview", {})["overview"]
    assert ask_whole("catalog", "overview").stdout == text
