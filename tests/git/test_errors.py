"""Errors of git's library become ours, with a reason; other people's faults stay what they are."""

from __future__ import annotations

import pygit2
import pytest

from skills_bundle.errors import CheckoutError
from skills_bundle.git import errors as git_errors
from skills_bundle.git.errors import translated


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("repository path '/x' is not owned by current user", "not_owner"),
        ("/x: unknown object format 'sha256'", "unsupported_object_format"),
        ("anything else", "git_unavailable"),
    ],
)
def test_refusals_of_libgit2_are_told_apart(message: str, expected: str) -> None:
    """By their words, since its error codes are the same."""
    assert git_errors.reason_of(message) == expected


@pytest.mark.parametrize(
    "error", [pygit2.GitError("x"), KeyError("x"), ValueError("x"), OSError("x"), ImportError("x")]
)
def test_what_git_raises_becomes_a_checkout_error(error: Exception) -> None:
    """Each kind that pygit2 is seen to raise for a broken repository."""
    with pytest.raises(CheckoutError) as caught, translated():
        raise error
    assert caught.value.reason == "git_unavailable"


def test_a_fault_of_our_own_is_not_taken_for_gits() -> None:
    """It must stay a traceback, or nobody would mend it."""
    with pytest.raises(TypeError), translated():
        raise TypeError
