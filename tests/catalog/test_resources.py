"""URIs, and a lock as entries of the skills extension."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.catalog import limits, resources
from skills_bundle.catalog.resources import Item
from skills_bundle.files import paths
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from tests.installed_builder import SAMPLE, lock_of

PATHS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60
).filter(lambda path: not paths.problems(path))
"""What a lock can hold: any Unicode that the rule of portable paths lets through."""


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("alpha/SKILL.md", "skill://alpha/SKILL.md"),
        ("group/sub/deep/SKILL.md", "skill://group/sub/deep/SKILL.md"),
        ("a/my file.md", "skill://a/my%20file.md"),
        ("a/50%.md", "skill://a/50%25.md"),
        ("a/c#.md", "skill://a/c%23.md"),
        ("a/~x_y-z.md", "skill://a/~x_y-z.md"),
        ("a/(1)+[2]&b=c;d,e@f!.md", "skill://a/%281%29%2B%5B2%5D%26b%3Dc%3Bd%2Ce%40f%21.md"),
        ("café/é.md", "skill://caf%C3%A9/%C3%A9.md"),
        ("小说/😀.md", "skill://%E5%B0%8F%E8%AF%B4/%F0%9F%98%80.md"),
    ],
)
def test_every_byte_but_the_unreserved_is_escaped(path: str, uri: str) -> None:
    """RFC 3986, section 2.3; also in the first part, which URIs call the authority."""
    assert resources.uri_of(path) == uri


@given(PATHS)
def test_a_path_comes_back_from_its_uri(path: str) -> None:
    """No two paths share a URI, and none is lost."""
    assert resources.path_of(resources.uri_of(path)) == path


@given(PATHS)
def test_the_spelling_is_the_standard_librarys(path: str) -> None:
    """Whoever writes a URI with a library's default rules writes ours."""
    assert resources.uri_of(path) == "skill://" + quote(path)


@given(PATHS)
def test_a_uri_parser_finds_the_path_and_no_query(path: str) -> None:
    """Nothing in a name can end the path early."""
    parts = urlsplit(resources.uri_of(path))
    assert (unquote(parts.netloc + parts.path), parts.query, parts.fragment) == (path, "", "")


@given(st.text(max_size=40).map("skill://".__add__) | st.text(max_size=40))
def test_any_text_has_no_path_or_is_the_uri_of_its_path(text: str) -> None:
    """There is no second spelling of anything."""
    path = resources.path_of(text)
    assert path is None or resources.uri_of(path) == text


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "skill://",
        "alpha/SKILL.md",
        "SKILL://alpha/SKILL.md",
        "skill:/alpha/SKILL.md",
        "skill:alpha/SKILL.md",
        "file://alpha/SKILL.md",
        "skill://alpha/my file.md",
        "skill://alpha/SKILL.md?x=1",
        "skill://alpha/SKILL.md#x",
        "skill://alpha/%53KILL.md",
        "skill://alpha/%2e%2e/SKILL.md",
        "skill://alpha%2FSKILL.md",
        "skill://caf%c3%a9/SKILL.md",
        "skill://café/SKILL.md",
        "skill://alpha/%FF.md",
        "skill://alpha/%ED%A0%80.md",
        "skill://alpha/%C0%AF.md",
        "skill://alpha/%2",
        "skill://alpha/%GG",
        "skill://alpha\\SKILL.md",
        "skill://alpha/SKILL.md\n",
        "skill://alpha/\0",
        "skill://" + "a" * 10_000,
    ],
)
def test_what_is_not_the_one_spelling_has_no_path(uri: str) -> None:
    """Encoded letters, other case, plain characters, broken or overlong escapes: none answers."""
    assert resources.path_of(uri) is None


SKILL = {"SKILL.md": b"---\nname: gamma\ndescription: Third.\n---\n"}


def reason(**fields: object) -> str | None:
    """Lock one valid skill with one part changed, and give why it has no entry."""
    lock = lock_of({"gamma": SKILL}, {"gamma": fields})
    return resources.entries(lock).unlisted.get("gamma")


def reason_of_field(key: str, value: object) -> str | None:
    """Change one field of the frontmatter."""
    return reason(frontmatter={"name": "gamma", "description": "Third.", key: value})


def test_an_entry_names_every_file_once_with_digest_and_size() -> None:
    """SKILL.md among them; of raw bytes."""
    listed = resources.entries(lock_of(SAMPLE)).listed
    assert listed["skill://group/beta/SKILL.md"].value["resources"] == [
        {
            "uri": f"skill://group/beta/{path}",
            "digest": f"sha256:{sha256_hex(data)}",
            "size": len(data),
        }
        for path, data in SAMPLE["group/beta"].items()
    ]


def test_an_entry_holds_the_frontmatter_as_locked() -> None:
    """Every field, whatever it is, in the author's order."""
    fields: dict[str, Any] = {
        "zeta": [1, 2.5, None, True],
        "name": "gamma",
        "description": "Third.\n",
        "metadata": {"b": {"c": "d"}, "a": 1},
    }
    lock = lock_of({"gamma": SKILL}, {"gamma": {"frontmatter": fields}})
    entry = resources.entries(lock).listed["skill://gamma/SKILL.md"].value
    assert strict_json.compact(entry["frontmatter"]) == strict_json.compact(fields)


def test_an_entry_has_no_other_member() -> None:
    """Strict hosts refuse what the extension does not name."""
    entry = resources.entries(lock_of(SAMPLE)).listed["skill://alpha/SKILL.md"].value
    assert list(entry) == ["uri", "frontmatter", "resources"]


def test_two_skills_of_one_name_are_two_entries() -> None:
    """A name is a label; the URI tells them apart."""
    lock = lock_of({"one/gamma": SKILL, "two/gamma": SKILL})
    assert list(resources.entries(lock).listed) == [
        "skill://one/gamma/SKILL.md",
        "skill://two/gamma/SKILL.md",
    ]


@pytest.mark.parametrize("code", ["yaml_repaired", "yaml_ambiguous", "bom", "fence_blanks"])
def test_frontmatter_that_another_reader_may_read_otherwise_has_no_entry(code: str) -> None:
    """A host compares what it reads with the entry, and would refuse the skill as forged."""
    assert reason(diagnostics=(code,)) == code


@pytest.mark.parametrize(
    "code", ["unknown_field", "too_many_lines", "duplicate_name", "broken_link", "tracked_junk"]
)
def test_what_no_reader_stumbles_over_keeps_its_entry(code: str) -> None:
    """A warning about style is nobody's verification failure."""
    assert reason(diagnostics=(code,)) is None


@pytest.mark.parametrize("name", ["Gamma", "gam ma", "-gamma", "gam--ma", "小说", "g" * 65, "g_a"])
def test_a_name_against_the_specification_has_no_entry(name: str) -> None:
    """A strict host throws away the page that holds it."""
    assert reason(name=name) == "name_form"


@pytest.mark.parametrize(("length", "code"), [(1024, None), (1025, "description_too_long")])
def test_a_description_may_be_as_long_as_the_specification_says(
    length: int, code: str | None
) -> None:
    """Counted as a host counts: white space around it included."""
    assert reason_of_field("description", "x" * (length - 1) + "\n") == code


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("license", None),
        ("license", ["MIT"]),
        ("compatibility", ""),
        ("compatibility", "x" * 501),
        ("compatibility", 3),
        ("allowed-tools", None),
        ("allowed-tools", [1]),
        ("allowed-tools", {"a": "b"}),
        ("metadata", None),
        ("metadata", "text"),
    ],
)
def test_a_field_of_a_type_that_hosts_refuse_has_no_entry(key: str, value: object) -> None:
    """Of those the specification knows."""
    assert reason_of_field(key, value) == "field_type"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("license", ""),
        ("compatibility", "x" * 500),
        ("allowed-tools", "Read Write"),
        ("allowed-tools", ["Read", "Write"]),
        ("metadata", {"version": 1.5, "deep": {"er": [None]}}),
        ("version", 1.5),
        ("hooks", {"stop": [{"run": "x"}]}),
    ],
)
def test_a_field_that_hosts_take_keeps_the_entry(key: str, value: object) -> None:
    """Other fields pass through unchanged, whatever they hold."""
    assert reason_of_field(key, value) is None


@pytest.mark.parametrize("value", [{"__proto__": 1}, [{"a": {"__proto__": None}}]], ids=repr)
def test_a_key_that_javascript_cannot_hold_has_no_entry(value: object) -> None:
    """Hosts written in it would lose or refuse the key."""
    assert reason_of_field("metadata", {"deep": value}) == "reserved_key"


def test_an_entry_too_large_for_a_response_is_left_out() -> None:
    """It could never be sent, and would take its page along."""
    assert reason_of_field("notes", "x" * limits.SKILL_ENTRY_MAX_BYTES) == "entry_too_large"


def test_a_skill_with_a_file_too_large_for_a_response_is_left_out() -> None:
    """A host could not get all that the entry promises."""
    sizes = (limits.RESOURCE_FILE_MAX_BYTES, limits.RESOURCE_FILE_MAX_BYTES + 1)
    skills = {f"s{n}": {**SKILL, "big": b"x" * size} for n, size in enumerate(sizes)}
    assert dict(resources.entries(lock_of(skills)).unlisted) == {"s1": "file_too_large"}


def test_every_skill_is_listed_or_has_a_reason() -> None:
    """Nothing vanishes."""
    lock = lock_of({**SAMPLE, "gamma": SKILL}, {"gamma": {"diagnostics": ("bom",)}})
    built = resources.entries(lock)
    assert (len(built.listed), dict(built.unlisted)) == (2, {"gamma": "bom"})


def items(*sizes: int) -> list[Item]:
    """Return items of these sizes."""
    return [Item({"n": number}, size) for number, size in enumerate(sizes)]


@given(st.lists(st.integers(1, 2 * limits.LISTING_PAGE_MAX_BYTES), max_size=30))
def test_pages_joined_are_the_listing(sizes: list[int]) -> None:
    """Each item once, whole, in order; and paging ends."""
    listing = items(*sizes)
    joined: list[Any] = []
    start: int | None = 0
    while start is not None:
        page, start = resources.page(listing, start)
        joined += page
    assert joined == [item.value for item in listing]


@given(st.lists(st.integers(1, 2 * limits.LISTING_PAGE_MAX_BYTES), min_size=1, max_size=30))
def test_a_page_keeps_its_bound_unless_one_item_alone_breaks_it(sizes: list[int]) -> None:
    """Bytes with commas."""
    page, _ = resources.page(items(*sizes), 0)
    held = sum(sizes[: len(page)]) + len(page)
    assert held <= limits.LISTING_PAGE_MAX_BYTES or len(page) == 1
