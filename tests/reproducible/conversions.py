"""Edge: what git itself does to files between a commit and a disk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tests.reproducible.dirt import DIRTY, after, append, commit, ignore
from tests.reproducible.room import git
from tests.reproducible.rows import Variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.reproducible.room import Room
    from tests.reproducible.subjects import Subject


def variations() -> Iterator[Variation]:
    """Return all of them."""
    for name, (options, expect) in LINE_ENDS.items():
        build = partial(converted, options)
        yield Variation(group="line ends", name=name, build=build, expect=expect)
    for name, (change, expect) in CASES.items():
        build = partial(after, change)
        yield Variation(group="git's own doing", name=name, build=build, expect=expect)


def converted(options: tuple[str, ...], room: Room) -> None:
    """Build a clone in which git converts line ends."""
    room.build(room.clone("project", *options))


LINE_ENDS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "autocrlf = true": (("-c", "core.autocrlf=true"), "eol_converted"),
    "eol = crlf, all text": (("-c", "core.eol=crlf", "-c", "core.autocrlf=true"), "eol_converted"),
}


def smudged(project: Path, _: Subject) -> None:
    """Have a filter that changes what is checked out, and changes it back for git."""
    git(project, "config", "filter.odd.smudge", "sed 's/$/ /'")
    git(project, "config", "filter.odd.clean", "sed 's/ $//'")
    ignore(project, "src/**/*.py filter=odd", "attributes")
    again(project)


def again(project: Path) -> None:
    """Check everything out anew."""
    git(project, "rm", "--quiet", "-r", "--cached", ".")
    git(project, "reset", "--quiet", "--hard")


def ident(project: Path, subject: Subject) -> None:
    """Have git fill in an id."""
    (project / subject.package / "ident.py").write_bytes(b"# $Id$\n")
    commit(project)
    ignore(project, "*.py ident", "attributes")
    again(project)


def encoded(project: Path, subject: Subject) -> None:
    """Have git check code out as UTF-16."""
    ignore(project, f"{subject.code} working-tree-encoding=UTF-16LE", "attributes")
    again(project)


def crlf_attribute(project: Path, _: Subject) -> None:
    """Have git check code out with CRLF, by an attribute of this clone."""
    ignore(project, "src/**/*.py text eol=crlf", "attributes")
    again(project)


def sparse(project: Path, subject: Subject) -> None:
    """Check out a part."""
    git(project, "sparse-checkout", "set", "--no-cone", "/*", f"!{subject.code}")


def replaced(kind: str, project: Path, subject: Subject) -> None:
    """Have git take another object for HEAD's commit, its tree or a blob; check that out."""
    head = git(project, "rev-parse", "HEAD").strip()
    append(project / subject.code)
    commit(project)
    path = {"commit": "", "tree": "^{tree}", "blob": f":{subject.code}"}[kind]
    new = git(project, "rev-parse", f"HEAD{path}").strip()
    old = git(project, "rev-parse", f"{head}{path}").strip()
    git(project, "reset", "--quiet", "--hard", head)
    git(project, "replace", old, new)
    again(project)


CASES: Final[dict[str, tuple[Callable[[Path, Subject], None], str]]] = {
    "a filter": (smudged, DIRTY),
    "ident": (ident, DIRTY),
    "another encoding": (encoded, DIRTY),
    "eol = crlf for code": (crlf_attribute, "eol_converted"),
    "a part checked out": (sparse, DIRTY),
    "a replaced commit": (partial(replaced, "commit"), DIRTY),
    "a replaced tree": (partial(replaced, "tree"), DIRTY),
    "a replaced blob": (partial(replaced, "blob"), DIRTY),
}
