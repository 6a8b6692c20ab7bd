"""Search, read and overview of an installed bundle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.catalog import limits, reading
from skills_bundle.catalog.model import ReadArguments, SearchArguments
from skills_bundle.catalog.service import Catalog
from skills_bundle.errors import ToolError, UnsafeFileError
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.digest import sha256_hex
from tests import odd_files
from tests.installed_builder import NAME, SAMPLE, InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.catalog.reading import Resources
    from tests.installed_builder import Installation

ABC = {name: {"SKILL.md": f"# {name}\n".encode()} for name in ("a", "b", "c")}


SHORT = {"SKILL.md": b"# x\n"}


def _error(ask: object, *arguments: object, **named: object) -> ToolError:
    assert callable(ask)
    with pytest.raises(ToolError) as refused:
        ask(*arguments, **named)
    return refused.value


def _code(ask: object, *arguments: object, **named: object) -> str:
    return _error(ask, *arguments, **named).code


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.fixture
def catalog(made: Installation) -> Catalog:
    """Its catalog."""
    return made.catalog()


@pytest.fixture
def everything(made: Installation) -> Catalog:
    """The same, with every text file readable."""
    return made.catalog(resources="all")


# --- search -----------------------------------------------------------------------------------


def test_an_empty_search_lists_everything(catalog: Catalog) -> None:
    """By name, with all that is known of each."""
    found = catalog.search()
    assert [(row.name, row.path) for row in found.skills] == [
        ("alpha", "alpha"),
        ("beta", "group/beta"),
    ]
    assert (found.total, found.offset, found.limit, found.next_offset) == (2, 0, 20, None)
    assert found.provenance.source_provenance.integrity == "verified"


def test_pages_follow_each_other(tmp_path: Path) -> None:
    """`next_offset` is null after the last one."""
    catalog = InstalledBuilder(skills=ABC).install(tmp_path).catalog()
    pages = [catalog.search(limit=2, offset=offset) for offset in (0, 2)]
    assert [[row.name for row in page.skills] for page in pages] == [["a", "b"], ["c"]]
    assert [page.next_offset for page in pages] == [2, None]
    assert [page.total for page in pages] == [3, 3]


@pytest.mark.parametrize("offset", [3, 257, format_limits.JSON_MAX_SAFE_INTEGER])
def test_an_offset_beyond_the_end_gives_an_empty_page(tmp_path: Path, offset: int) -> None:
    """With the right total, up to the largest number that every JSON reader has."""
    found = InstalledBuilder(skills=ABC).install(tmp_path).catalog().search(offset=offset)
    assert (found.skills, found.total, found.next_offset) == ((), 3, None)


def test_nothing_found_is_an_empty_answer(catalog: Catalog) -> None:
    """Not a list of bad guesses."""
    found = catalog.search("nothing like this")
    assert (found.total, found.skills, found.next_offset) == (0, (), None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x" * 201},
        {"query": "a\nb"},
        {"query": "a\0b"},
        {"query": "a\x7fb"},
        {"query": "a\x85b"},
        {"query": "\ud800"},
        {"query": None},
        {"query": 1},
        {"limit": 0},
        {"limit": 51},
        {"limit": True},
        {"limit": 1.5},
        {"limit": "1"},
        {"limit": None},
        {"offset": -1},
        {"offset": float("inf")},
        {"offset": float("nan")},
    ],
)
def test_a_search_outside_its_bounds_is_invalid(
    catalog: Catalog, arguments: dict[str, object]
) -> None:
    """One code, one sentence, nothing of the input in it."""
    assert _code(catalog.search, **arguments) == "invalid_input"


@pytest.mark.parametrize("query", ["x" * 200, "🦊" * 200, "a\tb".replace("\t", " "), "[.*]"])
def test_a_search_at_its_bounds_is_answered(catalog: Catalog, query: str) -> None:
    """Two hundred code points, whatever they are."""
    assert catalog.search(query).query == query


def test_a_whole_number_may_be_written_with_a_point() -> None:
    """JSON has one kind of number, and hosts write either."""
    assert SearchArguments.model_validate({"limit": 20.0, "offset": -0.0}).limit == 20
    assert ReadArguments.model_validate({"skill": "a", "offset": 4.0}).offset == 4


# --- read -------------------------------------------------------------------------------------


def test_a_read_gives_the_file_with_its_digest(catalog: Catalog) -> None:
    """SKILL.md unless another one is named."""
    found = catalog.read("alpha")
    data = SAMPLE["alpha"]["SKILL.md"]
    assert found.content.encode() == data
    assert (found.byte_length, found.content_sha256) == (len(data), sha256_hex(data))
    assert (found.skill, found.path, found.resource) == ("alpha", "alpha", "SKILL.md")
    assert (found.media_type, found.offset, found.next_offset, found.remaining) == (
        "text/markdown",
        0,
        None,
        0,
    )


@pytest.mark.parametrize("key", ["beta", "group/beta"])
def test_a_skill_answers_to_its_name_and_its_path(catalog: Catalog, key: str) -> None:
    """Both are in every search result."""
    found = catalog.read(key)
    assert (found.skill, found.path) == ("beta", "group/beta")


def test_two_skills_of_one_name_are_both_reachable(tmp_path: Path) -> None:
    """By path; the name alone is refused unless it is the path of one, never the first."""
    skills = {path: {"SKILL.md": path.encode()} for path in ("a/x", "b/x", "c/y", "y")}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog()
    answers = {key: catalog.read(key).content for key in ("a/x", "b/x", "y", "c/y")}
    assert _code(catalog.read, "x") == "ambiguous_skill"
    assert answers == {"a/x": "a/x", "b/x": "b/x", "y": "y", "c/y": "c/y"}


@pytest.mark.parametrize("skill", ["Alpha", "alpha ", "alph", "../alpha", "alpha/", "%61lpha", "*"])
def test_an_unknown_skill_is_unavailable(catalog: Catalog, skill: str) -> None:
    """Names are looked up, never interpreted."""
    assert _code(catalog.read, skill) == "resource_unavailable"


@pytest.mark.parametrize(
    "resource",
    [
        "../beta/SKILL.md",
        "references/../SKILL.md",
        "./SKILL.md",
        "references//guide.md",
        "/etc/passwd",
        "C:/x.md",
        "c:x.md",
        "references\\guide.md",
        "references/gui\0de.md",
        "references/\ud800.md",
        "x" * 1025,
        "references/" + "a/" * 24 + "x.md",
        "",
        None,
        7,
    ],
)
@pytest.mark.parametrize("resources", ["markdown", "all"])
def test_a_path_that_is_none_is_invalid(
    made: Installation, resource: object, resources: Resources
) -> None:
    """Whatever may be read."""
    assert _code(made.catalog(resources).read, "alpha", resource) == "invalid_input"


@pytest.mark.parametrize(
    "resource",
    [
        "references/none.md",
        "references/Guide.md",
        "references/%67uide.md",
        "references/guide.md%00.md",
        "references/*.md",
        "references/guide?.md",
        "references/guide.md#top.md",
    ],
)
def test_a_path_that_is_not_locked_is_unavailable(catalog: Catalog, resource: str) -> None:
    """Other case, escapes, patterns and fragments are other names."""
    assert _code(catalog.read, "alpha", resource) == "resource_unavailable"


@pytest.mark.parametrize(
    "resource", ["scripts/run.py", "skill.md", "README.md", "other/references/x.md", "references"]
)
def test_only_markdown_below_references_is_read_when_narrowed(
    made: Installation, resource: str
) -> None:
    """With `--resources markdown`, the rest cannot even be asked for."""
    assert _code(made.catalog("markdown").read, "alpha", resource) == "invalid_input"


def test_every_text_file_is_read_by_default(catalog: Catalog) -> None:
    """A SKILL.md that names `scripts/run.py` is readable as it is written."""
    assert catalog.read("alpha", "scripts/run.py").content == "print('alpha')\n"


def test_every_locked_text_is_read_when_allowed(everything: Catalog) -> None:
    """With its media type."""
    found = everything.read("alpha", "scripts/run.py")
    assert (found.content, found.media_type) == ("print('alpha')\n", "text/x-python")
    assert _code(everything.read, "alpha", "scripts/none.py") == "resource_unavailable"


def test_a_file_that_is_not_text_is_binary(everything: Catalog) -> None:
    """With its size and media type."""
    error = _error(everything.read, "beta", "assets/logo.bin")
    assert error.code == "binary_resource"
    assert "4 bytes of application/octet-stream" in error.message


def test_the_first_page_of_skill_md_lists_the_other_files(catalog: Catalog) -> None:
    """Path and size; nothing else does, and nothing names a folder of the machine."""
    page = catalog.read("alpha")
    assert page.files is not None
    assert [(row.path, row.size) for row in page.files] == [
        ("references/deep/more.md", 7),
        ("references/guide.md", 18),
        ("scripts/run.py", 15),
    ]
    first, later = (
        catalog.to_dict(answer) for answer in (page, catalog.read("alpha", "scripts/run.py"))
    )
    assert {"more_files", "base"}.isdisjoint(first)
    assert {"files", "more_files", "base"}.isdisjoint(later)
    assert "files" not in catalog.to_dict(catalog.read("alpha", offset=1))


def test_many_files_are_counted(tmp_path: Path) -> None:
    """At most 100, and no more than 3 KiB of them."""
    files = {"SKILL.md": b"# a\n", **{f"f{number:03}": b"x" for number in range(300)}}
    page = InstalledBuilder(skills={"a": files}).install(tmp_path).catalog().read("a")
    assert page.files is not None
    assert 50 < len(page.files) <= limits.READ_MAX_FILES
    assert len(page.files) + (page.more_files or 0) == 300


def test_the_folder_is_named_only_when_paths_are_exposed(made: Installation) -> None:
    """And only while no file of the skill is altered."""
    exposing = Catalog({NAME: made.open()}, folders={NAME: lambda path: str(made.skills / path)})
    base = exposing.read("group/beta").base
    assert base == str(made.skills / "group" / "beta")
    odd_files.remove(made.skills / "group/beta/assets/logo.bin")
    assert exposing.read("group/beta").base is None
    assert made.catalog().read("alpha").base is None


# --- errors teach -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"skill": "alpha", "limit": 10**6}, f'"limit": at most {limits.READ_MAX_LIMIT}.'),
        ({"skill": "alpha", "offset": -1}, '"offset": at least 0.'),
        ({"skill": "alpha", "offset": 10**6}, '"offset": at most 57, the size of the file.'),
        ({"skill": ""}, '"skill": must not be empty.'),
        ({"skill": 1}, '"skill": must be a string.'),
        ({"skill": "alpha", "resource": "../evil"}, '"resource": not a path inside a skill;'),
        ({"skill": "alpha", "resource": "evil.md"}, "not a file of this skill; its files: "),
        ({"skill": "alpah-evil"}, 'no such "skill".'),
        ({"skill": "alphb"}, 'Similar: "alpha".'),
    ],
)
def test_an_error_names_the_argument_and_the_rule(
    catalog: Catalog, arguments: dict[str, object], told: str
) -> None:
    """From our own schema and lock, and never what was asked for."""
    message = _error(catalog.read, **arguments).message
    assert told in message
    assert "evil" not in message
    assert "alphb" not in message


def test_a_file_that_is_not_locked_is_answered_with_those_that_are(catalog: Catalog) -> None:
    """The most similar first."""
    message = _error(catalog.read, "alpha", "run.py").message
    assert 'its files: "scripts/run.py", "SKILL.md"' in message


def test_an_altered_file_says_so_and_what_to_do(made: Installation, catalog: Catalog) -> None:
    """Which is not the same as a file that never was."""
    (made.skills / "alpha/scripts/run.py").write_bytes(b"evil")
    message = _error(catalog.read, "alpha", "scripts/run.py").message
    assert message.startswith("Altered since installation: ")
    assert "skills-bundle verify" in message
    assert str(made.skills) not in message


def test_an_unreadable_file_says_so() -> None:
    """Which is not the same as an altered one."""
    message = reading.unreadable(UnsafeFileError("unreadable", "a/b")).message
    assert message.startswith("Not readable here: ")


# --- answers stay short ---------------------------------------------------------------------------


def tokens(value: object) -> float:
    """Estimate the tokens of an answer, which is sent as text and as structured content."""
    text = json.dumps(value, ensure_ascii=False)
    wide = sum(len(one.encode()) / 3 for one in text if not one.isascii())
    return 2 * (wide + sum(one.isascii() for one in text) / 4)


@pytest.mark.parametrize("letter", ["x", "字"])
def test_a_default_answer_has_fewer_than_10000_tokens(tmp_path: Path, letter: str) -> None:
    """Of English and of Chinese, for the longest texts that a skill may have."""
    files = {"SKILL.md": (letter * 200_000).encode()}
    files |= {f"references/{letter * 60}{number}.md": b"x" for number in range(200)}
    fields: dict[str, object] = {"description": letter * 1024, "tags": (letter * 20,)}
    skills = {f"skill-{number:03}": files if not number else SHORT for number in range(60)}
    builder = InstalledBuilder(skills=skills, fields=dict.fromkeys(skills, fields))
    catalog = builder.install(tmp_path).catalog()
    answers = [catalog.read("skill-000"), catalog.search(), catalog.overview()]
    assert max(tokens(catalog.to_dict(answer)) for answer in answers) < 10_000
    assert catalog.search().total == 60


def test_long_rows_end_a_page_sooner_and_none_is_lost(tmp_path: Path) -> None:
    """`next_offset` continues where the page ended."""
    fields: dict[str, object] = {"description": "x" * 1024}
    skills = {f"skill-{number:03}": SHORT for number in range(30)}
    builder = InstalledBuilder(skills=skills, fields=dict.fromkeys(skills, fields))
    catalog = builder.install(tmp_path).catalog()
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = catalog.search(offset=offset)
        names += [row.name for row in page.skills]
        offset = page.next_offset
    assert names == list(skills)


# --- text of authors ------------------------------------------------------------------------------

HIDDEN = "\u202e\u200b\u3164\u180e\U000e0041\U000e0100"


def test_hidden_text_of_authors_is_neutral_wherever_an_agent_reads(tmp_path: Path) -> None:
    """Bidi controls, zero-width, fillers, tag characters, variation selectors, images and tags."""
    text = f"a{HIDDEN}b ![x](https://evil.example/?q=1) <img src=x>"
    skill: dict[str, object] = {
        "description": text,
        "tags": (f"t{HIDDEN}",),
        "frontmatter": {"name": "a", "description": text},
    }
    builder = InstalledBuilder(skills={"a": SHORT}, fields={"a": skill})
    catalog = builder.install(tmp_path).catalog()
    snapshot = catalog.snapshot()
    texts = [
        json.dumps(catalog.to_dict(catalog.search()), ensure_ascii=False),
        catalog.overview().overview,
        json.dumps([item.value for item in snapshot.resources()], ensure_ascii=False),
    ]
    for shown in texts:
        assert not set(HIDDEN) & set(shown)
        assert "![" not in shown
        assert "](" not in shown
        assert "<img" not in shown


def test_a_path_is_read_as_it_is_shown(tmp_path: Path) -> None:
    """Also if the lock has hidden characters in it."""
    skills = {"a\u3164b": {"SKILL.md": b"# a\n", "x\u3164y.md": b"# x\n"}}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog()
    path = catalog.search().skills[0].path
    page = catalog.read(path)
    assert page.files is not None
    assert catalog.read(path, page.files[0].path).content == "# x\n"
    assert (path, page.files[0].path) == ("a\ufffdb", "x\ufffdy.md")


def test_two_skills_of_one_name_are_refused_with_their_paths(tmp_path: Path) -> None:
    """Never the first of them."""
    skills = {"a/same": SHORT, "b/same": SHORT}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog()
    error = _error(catalog.read, "same")
    assert error.code == "ambiguous_skill"
    assert '"a/same", "b/same"' in error.message


@pytest.mark.parametrize("resource", [".hidden.md", "references/.draft.MD"])
def test_dot_files_that_are_locked_answer(tmp_path: Path, resource: str) -> None:
    """What ships can be read."""
    skills = {"a": {"SKILL.md": b"# a\n", resource: b"# x\n"}}
    catalog = InstalledBuilder(skills=skills).install(tmp_path).catalog(resources="all")
    assert catalog.read("a", resource).content == "# x\n"


def test_a_long_file_is_read_in_pages(tmp_path: Path) -> None:
    """Each page has the whole file's digest and says how much is left."""
    data = ("Grüße, 世界 🦊\n" * 20_000).encode()
    catalog = InstalledBuilder(skills={"a": {"SKILL.md": data}}).install(tmp_path).catalog()
    pages, offset = [catalog.read("a")], None
    while (offset := pages[-1].next_offset) is not None:
        pages.append(catalog.read("a", offset=offset))
    assert "".join(page.content for page in pages).encode() == data
    assert {(page.byte_length, page.content_sha256) for page in pages} == {
        (len(data), sha256_hex(data))
    }
    assert all(len(page.content.encode()) <= limits.READ_DEFAULT_LIMIT for page in pages)
    assert pages[-1].remaining == 0


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    """So that text and digest agree."""
    data = b"\xef\xbb\xbf# a\n"
    catalog = InstalledBuilder(skills={"a": {"SKILL.md": data}}).install(tmp_path).catalog()
    found = catalog.read("a")
    assert found.content == "\ufeff# a\n"
    assert sha256_hex(found.content.encode()) == found.content_sha256


@pytest.mark.parametrize(
    "arguments",
    [
        {"offset": 10**6},
        {"offset": -1},
        {"limit": 3},
        {"limit": 0},
        {"limit": limits.READ_MAX_LIMIT + 1},
        {"limit": None},
    ],
)
def test_a_page_outside_the_file_is_invalid(catalog: Catalog, arguments: dict[str, object]) -> None:
    """Bounds of the arguments, and of the file."""
    assert _code(catalog.read, "alpha", **arguments) == "invalid_input"


# --- overview ---------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, limits.OVERVIEW_MAX_ENTRIES + 1, True, "1", None])
def test_an_overview_outside_its_bounds_is_invalid(catalog: Catalog, most: object) -> None:
    """1 to 100."""
    assert _code(catalog.overview, most) == "invalid_input"


def test_an_overview_says_how_many_skills_are_damaged(made: Installation, catalog: Catalog) -> None:
    """It is incomplete then."""
    assert "altered" not in catalog.overview().overview
    odd_files.remove(made.skills / "alpha/scripts/run.py")
    odd_files.remove(made.skills / "alpha/references/guide.md")
    found = catalog.overview()
    assert "1 skill with files altered since installation; " in found.overview
    assert found.provenance.gaps == ("altered_files",)


def test_answers_are_json_objects(catalog: Catalog) -> None:
    """Every answer carries the same provenance block."""
    answers = [catalog.search(), catalog.read("alpha"), catalog.overview()]
    blocks: list[Any] = [catalog.to_dict(answer)["provenance"] for answer in answers]
    assert blocks[0] == blocks[1] == blocks[2]
    assert blocks[0]["catalog_sha256"]


def test_an_overview_names_skills_that_have_no_entry(tmp_path: Path) -> None:
    """Served by the tools all the same."""
    fields: dict[str, dict[str, object]] = {"b": {"diagnostics": ("yaml_repaired",)}}
    asked = InstalledBuilder(skills=ABC, fields=fields).install(tmp_path).catalog()
    assert 'readable with the tools: "b" (yaml_repaired).' in asked.overview().overview
    assert asked.read("b").content == "# b\n"
