"""The wire's codes and their sentences."""

from __future__ import annotations

import pytest

from skills_bundle.catalog import model


@pytest.mark.parametrize("code", model.MESSAGES)
def test_a_code_has_one_short_sentence(code: str) -> None:
    """Under 512 characters, and the error carries both."""
    refused = model.refusal(code)
    assert (refused.code, refused.message) == (code, model.MESSAGES[code])
    assert len(refused.message) < 512


def test_an_unknown_code_is_a_bug() -> None:
    """Nothing makes one up."""
    with pytest.raises(KeyError):
        model.refusal("nonsense")
