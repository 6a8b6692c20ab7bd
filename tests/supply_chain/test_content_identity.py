"""One content identity for equal bytes, whatever they were read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.reading import open_archive
from skills_bundle.bundle import lock as locks
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.files.reading import read_files, walk
from skills_bundle.files.tree import compare
from skills_bundle.git.repository import open_checkout
from skills_bundle.installed.bundle import skills_tree
from tests.installed_wheel import install_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.files.tree import FileTree
    from tests.hatch_plugin.sample import SampleProject

SKILLS = ".agents/skills"


@pytest.fixture
def trees(sample: SampleProject, sample_wheel: Path, tmp_path: Path) -> dict[str, FileTree]:
    """The skills of one project, read from each kind of source."""
    lock = locks.parse((sample.folder / LOCK_FILE_NAME).read_bytes())
    folder = sample.folder / "skills"
    made = install_wheel(sample_wheel, tmp_path / "site")
    commit = open_checkout(sample.folder).head
    assert commit is not None
    return {
        "folder": read_files(folder, walk(folder), with_mode=True).with_modes_of(lock.tree()),
        "commit": commit.file_tree("skills"),
        "lock": lock.tree(),
        "wheel": open_archive(sample_wheel).files.below(f"{made.package}/{SKILLS}"),
        "installation": skills_tree(made.open()),
    }


def test_a_collection_has_one_content_identity(trees: dict[str, FileTree]) -> None:
    """Reports compare an installation with a commit, and a lock with a folder."""
    lock = trees["lock"]
    assert {name: compare(lock, tree) for name, tree in trees.items() if compare(lock, tree)} == {}
    assert len({tree.content_identity(collection="acme") for tree in trees.values()}) == 1
    assert len({tree.package_sha256() for tree in trees.values()}) == 1
    assert len({tree.dir_hash() for tree in trees.values()}) == 1


def test_a_skill_has_one_content_identity(trees: dict[str, FileTree]) -> None:
    """The same below one skill's folder."""
    skill = min(trees["lock"]).split("/", 1)[0]
    identities = {
        tree.below(skill).content_identity(collection="acme", skill=skill)
        for tree in trees.values()
    }
    assert len(identities) == 1


def test_every_source_but_the_lock_returns_the_bytes(trees: dict[str, FileTree]) -> None:
    """A lock holds digests only."""
    path = min(trees["lock"])
    assert len({tree.read(path) for name, tree in trees.items() if name != "lock"}) == 1
