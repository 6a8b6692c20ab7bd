"""Edge: lock real collections of skills and check the locks against git itself.

Usage: python benchmarks/lock_collections.py CLONE [CLONE ...]

Each argument is a clean git checkout; its top is taken as the skills folder. For each one: how many
`SKILL.md` git holds, and what became of every single one of them (locked, refused with a code,
inside another skill); whether the ids computed here are those git gives, skill by skill and for the
whole; whether `dir_hash` is what Go's algorithm gives; and how long the scan took.

Refused skills are then excluded and the rest is locked, so that the whole can be compared too.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skills_bundle.bundle import assemble, lock
from skills_bundle.project import file_facts
from skills_bundle.skills.model import Level
from skills_bundle.skills.scan import scan

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one collection gave."""

    name: str
    in_git: int
    locked: int
    refused: int
    inside: int
    lost: tuple[str, ...]
    wrong_trees: tuple[str, ...]
    whole_tree: bool
    dir_hash: bool
    stable: bool
    seconds: float
    refusals: Counter[str]
    warnings: Counter[str]


def git(clone: Path, *arguments: str) -> str:
    """Ask the real git, quoting no path."""
    command = ["git", "-C", str(clone), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout


def measure(clone: Path) -> Row:
    """Scan and lock one checkout, and compare with git."""
    facts = file_facts.open_facts(clone, ".", None).facts
    start = time.perf_counter()
    first = scan(clone, facts)
    seconds = time.perf_counter() - start
    refused = tuple(skill.path for skill in first.refused if skill.path != ".")
    rest = scan(clone, facts, exclude=refused)
    whole = assemble.lock("collection", rest)
    tracked = [row for row in git(clone, "ls-files", "-z").split("\0") if row]
    skill_mds = [row for row in tracked if row.rsplit("/", 1)[-1] == "SKILL.md"]
    found = {skill.path for skill in first.skills} | {skill.path for skill in first.refused}
    inside, lost = places(skill_mds, found)
    return Row(
        name=clone.name,
        in_git=len(skill_mds),
        locked=len(first.skills),
        refused=len(first.refused),
        inside=inside,
        lost=lost,
        wrong_trees=wrong_trees(clone, whole),
        whole_tree=whole.digests.git_tree == git(clone, "rev-parse", "HEAD^{tree}").strip(),
        dir_hash=whole.digests.dir_hash == go_dirhash(clone, whole),
        stable=lock.parse(whole.to_bytes()) == whole,
        seconds=seconds,
        refusals=Counter(
            row.code
            for skill in first.refused
            for row in skill.diagnostics
            if row.level is Level.REFUSE
        ),
        warnings=Counter(row.code for skill in first.skills for row in skill.diagnostics),
    )


def places(skill_mds: list[str], found: set[str]) -> tuple[int, tuple[str, ...]]:
    """Count the SKILL.md that belong to a skill above them, and name those nobody knows of."""
    inside = 0
    lost: list[str] = []
    for path in skill_mds:
        folder = path.rpartition("/")[0] or "."
        parts = folder.split("/")
        if folder in found:
            continue
        if any("/".join(parts[:count]) in found for count in range(1, len(parts))):
            inside += 1
        else:
            lost.append(path)
    return inside, tuple(lost)


def wrong_trees(clone: Path, whole: CatalogLock) -> tuple[str, ...]:
    """Name the skills whose tree id is not git's, those aside where git tracks junk."""
    rows = (line.split("\t", 1) for line in git(clone, "ls-tree", "-rtz", "HEAD").split("\0"))
    trees = {row[1]: row[0].split()[2] for row in rows if len(row) == 2}
    return tuple(
        row.path
        for row in whole.skills
        if trees.get(row.path) != row.git_tree and "tracked_junk" not in row.diagnostics
    )


def go_dirhash(clone: Path, whole: CatalogLock) -> str:
    """Compute Go's h1 from the files on disk, in as few words as its documentation."""
    digest = hashlib.sha256()
    for path in sorted(whole.files(), key=lambda path: path.encode()):
        data = (clone / path).read_bytes()
        digest.update(f"{hashlib.sha256(data).hexdigest()}  {path}\n".encode())
    return digest.hexdigest()


def report(row: Row) -> None:
    """Print one collection's lines."""
    adds_up = "adds up" if not row.lost else f"LOST {', '.join(row.lost)}"
    trees = "all trees as git's" if not row.wrong_trees else f"WRONG TREES {row.wrong_trees}"
    print(f"\n{row.name}: {row.in_git} SKILL.md in git")
    print(f"  {row.locked} locked + {row.refused} refused, {row.inside} in other skills: {adds_up}")
    print(f"  {trees}; whole tree {row.whole_tree}, dir_hash {row.dir_hash}, stable {row.stable}")
    print(f"  scanned in {row.seconds:.2f} s")
    for title, counts in (("refused", row.refusals), ("warned", row.warnings)):
        print(f"  {title}: " + ", ".join(f"{code} {n}" for code, n in counts.most_common()))


def main(clones: list[str]) -> int:
    """Measure every clone; 1 if anything was lost or an id differs from git's."""
    rows = [measure(Path(clone).resolve()) for clone in clones]
    for row in rows:
        report(row)
    good = [
        not row.lost and not row.wrong_trees and row.whole_tree and row.dir_hash and row.stable
        for row in rows
    ]
    total = sum(row.locked + row.refused for row in rows)
    print(
        f"\n{total} skills in {len(rows)} collections, {sum(good)} of {len(rows)} as git has them"
    )
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
