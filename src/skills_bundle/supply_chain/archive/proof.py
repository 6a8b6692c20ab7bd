"""Decision: what the trees in a receipt's proof say of single files of an sdist.

The receipt has one digest for all files. Where that is wrong, the trees on the way from the commit
to the skills folder still name the blobs beside that way, and the trees of folders beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from skills_bundle.files.paths import parents
from skills_bundle.formats.digest import TREE_MODE, TreeEntry, git_object_id, git_tree_id
from skills_bundle.git import proof
from skills_bundle.git.commit import Commit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.archives.model import Member
    from skills_bundle.git.proof import Entry
    from skills_bundle.supply_chain.archive.contents import ArchiveContents

Told: TypeAlias = Literal["same", "changed", "unknown"]


def told_by_proof(contents: ArchiveContents, files: Mapping[str, Member]) -> dict[str, Told]:
    """Tell of each file whether it is the commit's.

    Args:
        contents: The sdist.
        files: Those to tell of, by path in it.
    """
    project = _project(contents)
    if project is None:
        return dict.fromkeys(files, "unknown")
    folders: dict[str, bool] = {}
    return {path: _told(path, files, project, folders) for path in files}


class _Entries:
    """What the proof knows of the commit, by path in the project."""

    def __init__(self, commit: Commit, prefix: str) -> None:
        self._commit, self._prefix = commit, prefix

    def get(self, path: str) -> Entry | None:
        """Give an entry; None if the proof has no tree that would name it, or none does."""
        try:
            return self._commit.entry(self._prefix + path)
        except (KeyError, ValueError):
            return None


def _told(
    path: str, files: Mapping[str, Member], entries: _Entries, folders: dict[str, bool]
) -> Told:
    entry = entries.get(path)
    if entry is not None and entry.mode.startswith("100"):
        same = entry.oid == git_object_id("blob", files[path].data)
        return "same" if same else "changed"
    for folder in parents(path):
        tree = entries.get(folder)
        if tree is not None and tree.mode == TREE_MODE:
            if folder not in folders:
                folders[folder] = _tree(folder, files) == tree.oid
            if folders[folder]:
                return "same"
    return "unknown"


def _tree(folder: str, files: Mapping[str, Member]) -> str:
    """Give the git tree of a folder's files as they are here."""
    start = f"{folder}/"
    return git_tree_id(
        TreeEntry(
            path.removeprefix(start),
            "100755" if member.executable else "100644",
            git_object_id("blob", member.data),
        )
        for path, member in files.items()
        if path.startswith(start)
    )


def _project(contents: ArchiveContents) -> _Entries | None:
    """Give the commit as far as the proof holds it, and where the project is in it."""
    receipt = contents.receipt.value
    source = None if receipt is None else receipt.source
    if source is None or not source.proof or source.commit is None or proof.problems(source):
        return None
    raw = proof.decode(source.proof)
    kinds = ["commit", *["tree"] * (len(raw) - 1)]
    objects = {git_object_id(kind, data): data for kind, data in zip(kinds, raw, strict=True)}
    way = proof.way(source)
    below = contents.skills.count("/") + 1 if contents.skills else 0
    above = way[: max(0, len(way) - below)]
    if any(len(names) != 1 for names in above):
        return None  # two folders of the same content: nobody can tell which is the project's
    prefix = "".join(f"{names[0]}/" for names in above)
    return _Entries(Commit(source.commit, objects.__getitem__), prefix)
