"""What git does to files, or is kept from seeing, takes the commit from the receipt.

A selection of what `nox -s reproducible` tries, built in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hatch_plugin.sample import SampleProject, git, receipt_of
from tests.reproducible import changes, conversions
from tests.reproducible.rows import CLEAN
from tests.reproducible.subjects import Subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASES = {
    **conversions.CASES,
    **changes.SAME,
    **{
        name: changes.CHANGED[name]
        for name in (
            "code of the same size and time",
            "staged, not on disk",
            "a folder became a link",
            "a link became a file",
            "a merge with conflicts",
            "HEAD moved alone",
            "a submodule elsewhere",
        )
    },
}


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    """Return a small project with a file of code that nothing needs."""
    sample = SampleProject.create(tmp_path / "origin")
    sample.write("src/acme_skills/code/extra.py", b"# text\n").write("README.md", b"# Acme\n")
    sample.committed()
    return Subject(
        name="sample",
        origin=sample.folder,
        work=tmp_path / "plain",
        package="src/acme_skills",
        code="src/acme_skills/code/extra.py",
        skill="skills/greet/SKILL.md",
        script="skills/greet/scripts/hi.sh",
        shared=tmp_path,
    )


@pytest.mark.parametrize("name", CASES)
def test_no_receipt_names_a_commit_of_other_bytes(
    subject: Subject, tmp_path: Path, name: str
) -> None:
    """Wheel and sdist give the reason; where the files are the commit's, they name it."""
    change, expect = CASES[name]
    project = SampleProject(tmp_path / "project")
    git(tmp_path, "clone", "--quiet", str(subject.origin), "project")
    change(project.folder, subject)
    reasons = {_reason(project.wheel), _reason(project.sdist)}
    assert reasons == {None if expect == CLEAN else expect}


def _reason(build: Callable[[], Path]) -> str | None:
    source = receipt_of(build()).source
    assert (source.commit is None) == (source.reason is not None)
    return source.reason
