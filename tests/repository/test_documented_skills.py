"""What the skills extension promises stands in its reference page."""

from __future__ import annotations

import re

from skills_bundle.catalog.resources import REASONS
from skills_bundle.server.resources import METHODS, PROVENANCE, REFUSALS
from tests.repository.pages import page


def _missing(words: set[str]) -> set[str]:
    """Return the words that are in no code span of the page."""
    return words - set(re.findall(r"`([^`\n]+)`", page("docs/reference/skills-extension.md").text))


def test_every_method_is_documented() -> None:
    """A host's author finds each."""
    assert _missing({method.name for method in METHODS}) == set()


def test_every_refusal_is_documented() -> None:
    """A code in an error can be looked up."""
    assert _missing(set(REFUSALS)) == set()


def test_every_reason_is_documented() -> None:
    """So can a reason in an overview."""
    assert _missing(set(REASONS)) == set()


def test_our_place_in_meta_is_documented() -> None:
    """Nobody else's prefix is used."""
    assert _missing({PROVENANCE}) == set()
