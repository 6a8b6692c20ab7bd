"""What PyYAML lets pass is noticed, and its complaints about quotes are put plainly.

The vectors of frontmatter hold the cases; here is what they cannot show.
"""

from __future__ import annotations

import pytest

from skills_bundle.skills import frontmatter, yaml_source


def message(head: str) -> str:
    """Give the one sentence about a YAML head that is refused."""
    (row,) = frontmatter.parse(f"---\n{head}\n---\n".encode()).diagnostics
    return row.message


@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_open_quote_is_named_with_its_place(quote: str) -> None:
    """The line is the diagnostic's."""
    found = message(f"name: x\ndescription: {quote}Open")
    assert found == f"not YAML: the quote {quote} in column 14 is never closed"


def test_a_quote_that_the_next_one_closes_is_told() -> None:
    """The fault shows lines below its cause."""
    found = message('name: x\ndescription: "Open\nlicense: "MIT"')
    assert found.endswith("the quote that closes on this line was opened on the line above")


def test_a_comment_after_a_blank_is_none_of_ours() -> None:
    """Nor one on its own line."""
    source = yaml_source.Source("# a\nname: [x, # b\n  y] # c\n")
    assert len(list(source.events())) > 1
    assert source.lax == []


def test_a_stand_in_is_no_character_that_an_escape_can_give() -> None:
    """Else the value would get a line separator that its author did not write."""
    (stand_in,) = yaml_source.stand_ins("\u2028 \\U000F0000 \U000f0001").values()
    assert stand_in == "\U000f0002"
