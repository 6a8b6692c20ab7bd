"""`build-constraints.txt` pins what builds this project; no index has a choice."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from skills_bundle.hatch_plugin.build_hook import PYGIT2
from tests.repository.pages import ROOT

TEXT = (ROOT / "build-constraints.txt").read_text(encoding="utf-8")
PINS = {
    canonicalize_name(found[1]): found[2]
    for found in re.finditer(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", TEXT, re.MULTILINE)
}
with (ROOT / "pyproject.toml").open("rb") as _file:
    _LINES = [*tomllib.load(_file)["build-system"]["requires"], PYGIT2]
REQUIRED = [Requirement(line) for line in _LINES]


@pytest.mark.parametrize("requirement", REQUIRED, ids=str)
def test_what_a_build_requires_is_pinned_to_a_version_it_accepts(requirement: Requirement) -> None:
    """Renewed by `nox -s constraints` when a requirement of the build changes."""
    assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


def test_every_pinned_package_has_the_digests_of_its_files() -> None:
    """One package without a digest, and front ends take whatever they are given."""
    head, *blocks = re.split(r"^(?=[A-Za-z0-9])", TEXT, flags=re.MULTILINE)
    without = [block.split()[0] for block in blocks if "--hash=sha256:" not in block]
    assert (len(blocks), without, "==" in head) == (len(PINS), [], False)


def test_the_constraints_name_no_place_to_get_packages_from() -> None:
    """Which index a builder trusts is the builder's choice."""
    assert re.findall(r"https?:|--index|--find-links", TEXT) == []
