"""URIs: one spelling for every path, and nothing else answers."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills_bundle.catalog import resources
from skills_bundle.files import paths

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
