"""Decision: how two locks, wheels, sdists, installations or folders differ."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, NamedTuple

from skills_bundle.bundle.document_report import ProblemRow
from skills_bundle.files.paths import parents
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX
from skills_bundle.skills.model import SKILL_MD
from skills_bundle.supply_chain.diff import facts as diff_facts
from skills_bundle.supply_chain.diff.archives import (
    ArchiveDiff,
    MemberDifference,
    changes,
    compare_archives,
)
from skills_bundle.supply_chain.diff.model import Difference, SideReport
from skills_bundle.supply_chain.diff.text import text_differences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills_bundle.supply_chain.diff.archives import Change, MemberKind
    from skills_bundle.supply_chain.diff.model import DiffVerdict, Ground, Item, Side

INSTALLERS_OWN: Final = frozenset(
    {
        "INSTALLER",
        "RECORD",
        "REQUESTED",
        "direct_url.json",
        "provenance_url.json",
        "uv_build.json",
        "uv_cache.json",
    }
)
"""What installers write into a `.dist-info`; RECORD lists these and what they compiled."""


class _Compared(NamedTuple):
    ground: Ground
    before: Mapping[str, Item]
    after: Mapping[str, Item]


def compare(before: Side, after: Side, *, text: bool = True) -> Difference:
    """Compare two sides in what they have in common.

    Args:
        before: The first, or older.
        after: The second, or newer.
        text: Whether to give unified diffs of text files.
    """
    common = _common(before, after)
    files = compare_items(common.before, common.after)
    skills = _skills(before, after)
    packing = _packing(before, after)
    lock = (
        *_facts(diff_facts.of_lock(before.lock), diff_facts.of_lock(after.lock)),
        *_facts(
            diff_facts.of_skills(before.lock, after.lock),
            diff_facts.of_skills(after.lock, before.lock),
        ),
    )
    receipt = _facts(diff_facts.of_receipt(before.receipt), diff_facts.of_receipt(after.receipt))
    metadata = (
        *_facts(diff_facts.of_metadata(before), diff_facts.of_metadata(after)),
        *_facts(diff_facts.of_wheel(before), diff_facts.of_wheel(after)),
    )
    unread = (*before.unread, *after.unread)
    found = (files, lock, receipt, metadata, *skills)
    changed = any(found) or _is_packed_otherwise(packing)
    verdict: DiffVerdict = "different" if changed else "cannot_tell" if unread else "same"
    return Difference(
        verdict=verdict,
        exit_code=1 if changed else 3 if unread else 0,
        before=SideReport(kind=before.kind, place=before.place),
        after=SideReport(kind=after.kind, place=after.place),
        compared=common.ground,
        same_content=not files,
        skills_added=skills[0],
        skills_removed=skills[1],
        skills_changed=skills[2],
        files=files,
        lock=lock,
        receipt=receipt,
        metadata=metadata,
        packing=packing,
        texts=text_differences(files, common.before, common.after) if text else (),
        unread=tuple(
            ProblemRow(code=one.code, message=one.message, path=one.path, line=one.line)
            for one in unread
        ),
    )


def _common(before: Side, after: Side) -> _Compared:
    """Choose what both sides have."""
    kinds = {before.kind, after.kind}
    if kinds in ({"wheel"}, {"sdist"}):
        return _Compared("archive", _as_in(after, before), after.files)
    if kinds <= {"wheel", "installation"}:
        return _Compared("distribution", _installed(_as_in(after, before)), _installed(after.files))
    if kinds == {"folder"}:
        return _Compared("files", before.files, after.files)
    return _Compared("skills", _skill_files(before), _skill_files(after))


def _as_in(after: Side, before: Side) -> Mapping[str, Item]:
    """Give the first side's files with the metadata folders called as the second's are.

    Their names have the version in them: in a new version each file there would be told as one
    that went and one that came, also those that did not change.
    """
    one, other = _stem(before), _stem(after)
    if not one or not other or one == other:
        return before.files
    names = {f"{one}{end}": f"{other}{end}" for end in (DIST_INFO_SUFFIX, ".data")}
    parts = ((*path.partition("/"), item) for path, item in before.files.items())
    return {f"{names.get(top, top)}{slash}{rest}": item for top, slash, rest, item in parts}


def _stem(side: Side) -> str:
    """Give what the metadata folders of a wheel or an installation are called, up to the end."""
    folder = side.metadata.partition("/")[0]
    return folder.removesuffix(DIST_INFO_SUFFIX) if folder.endswith(DIST_INFO_SUFFIX) else ""


def _skill_files(side: Side) -> Mapping[str, Item]:
    """Give the skills of a side; of a plain folder that has no lock all there is."""
    return side.files if side.skills is None else side.skills


def _installed(files: Mapping[str, Item]) -> dict[str, Item]:
    """Leave out what an installer makes."""
    return {path: item for path, item in files.items() if not _is_installers(path)}


def _is_installers(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    moved = path.partition("/")[0].endswith(".data")  # scripts and the like, each to its place
    return moved or (folder.endswith(DIST_INFO_SUFFIX) and name in INSTALLERS_OWN)


def compare_items(
    before: Mapping[str, Item], after: Mapping[str, Item]
) -> tuple[MemberDifference, ...]:
    """Compare files by path: which came, went, or have other bytes or another executable bit."""
    paths = sorted(before.keys() | after.keys(), key=lambda path: path.encode("utf-8", "replace"))
    rows = ((path, before.get(path), after.get(path)) for path in paths)
    return tuple(
        _difference(path, one, other, kinds)
        for path, one, other in rows
        if (kinds := _kinds(one, other))
    )


def _kinds(before: Item | None, after: Item | None) -> tuple[MemberKind, ...]:
    if before is None or after is None:
        return ("added",) if before is None else ("removed",)
    changed = before.sha256 != after.sha256
    other_mode = None not in {before.executable, after.executable} and (
        before.executable != after.executable
    )
    kinds: list[MemberKind] = ["changed"] if changed else []
    return (*kinds, "executable") if other_mode else tuple(kinds)


def _difference(
    path: str, before: Item | None, after: Item | None, kinds: tuple[MemberKind, ...]
) -> MemberDifference:
    return MemberDifference(
        path=path,
        kinds=kinds,
        before_size=None if before is None else before.size,
        before_sha256=None if before is None else before.sha256,
        before_executable=None if before is None else before.executable,
        after_size=None if after is None else after.size,
        after_sha256=None if after is None else after.sha256,
        after_executable=None if after is None else after.executable,
    )


def _skills(before: Side, after: Side) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Give the skills that came, went and changed."""
    one, other = _skill_files(before), _skill_files(after)
    if before.kind == after.kind == "folder" and before.skills is None and after.skills is None:
        return (), (), ()
    old, new = _folders(one), _folders(other)
    rows = compare_items(one, other)
    touched = {_skill_of(row.path, old | new) for row in rows} - {None}
    changed = {path for path in touched if path is not None} & old & new
    return _sorted(new - old), _sorted(old - new), _sorted(changed)


def _folders(files: Mapping[str, Item]) -> set[str]:
    """Give the folders that hold a SKILL.md, outermost only."""
    found = {path.rpartition("/")[0] for path in files if posixpath.basename(path) == SKILL_MD}
    return {path for path in found if found.isdisjoint(parents(path))}


def _skill_of(path: str, skills: set[str]) -> str | None:
    return next((folder for folder in parents(path) if folder in skills), None)


def _sorted(paths: set[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: path.encode("utf-8", "replace")))


def _packing(before: Side, after: Side) -> ArchiveDiff | None:
    one, other = before.archive, after.archive
    if one is None or other is None or one.kind != other.kind:
        return None
    return compare_archives(one, other)


def _is_packed_otherwise(packing: ArchiveDiff | None) -> bool:
    return packing is not None and not packing.identical


def _facts(one: dict[str, str], other: dict[str, str]) -> tuple[Change, ...]:
    """Compare facts that both sides have: a side without a lock does not lack one."""
    return changes(one, other) if one and other else ()
