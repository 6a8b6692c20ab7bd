"""The files that a project begins with."""

from __future__ import annotations

import pytest

from skills_bundle.project import templates


@pytest.mark.parametrize(
    ("version", "requirement"),
    [
        ("0.1.0", "skills-bundle>=0.1.0,<0.2"),
        ("0.12.3", "skills-bundle>=0.12.3,<0.13"),
        ("1.4.2", "skills-bundle>=1.4.2,<2"),
    ],
)
def test_a_run_time_requirement_ends_before_the_next_breaking_version(
    version: str, requirement: str
) -> None:
    """As semantic versioning counts: below 1.0 the second number may break things."""
    assert templates.compatible(version) == requirement


def test_a_command_called_like_its_collection_says_it_once() -> None:
    """And only another name is spelled out."""
    assert 'command_line("acme")\n' in templates.command("acme", "acme")
    assert 'command_line("acme", program="tool")\n' in templates.command("acme", "tool")
