"""Edge: installed collections for programs, as names, paths and verified bytes.

`import skills_bundle` offers everything here, and imports this module only when one of its names is
used:

```python
import skills_bundle

acme = skills_bundle.collection("acme-skills")
for skill in acme.skills:
    print(skill.name, skill.description)
text = acme.skill("incident-report").read_text()
```

A `Collection` is what its lock said when it was opened. Every read opens the file anew, hashes the
bytes it returns, and compares them with this lock. Everything here can be used by several threads
at once. Nothing is written, no network is used, and no code of the packages is run.
"""

from __future__ import annotations

import copy
from difflib import get_close_matches
from typing import TYPE_CHECKING

from skills_bundle import wiring
from skills_bundle.errors import SkillsBundleError, UnknownSkillError, UnsafeFileError
from skills_bundle.files.paths import to_disk
from skills_bundle.installed import collections as declared
from skills_bundle.skills.model import SKILL_MD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from skills_bundle.bundle.lock import LockedFile, LockedSkill
    from skills_bundle.bundle.provenance import Provenance
    from skills_bundle.bundle.verification import Verification
    from skills_bundle.installed.collections import Declared
    from skills_bundle.installed.location import Installed
    from skills_bundle.wiring import OpenBundle


class UnknownFileError(SkillsBundleError):
    """A file that the skill does not have."""

    exit_code = 2


def collections() -> tuple[Declared, ...]:
    """List what distributions in the running environment declare; nothing of it is opened.

    Returns:
        One row a declaration, sorted by name: the collection's `name`, the `distribution` that
        brings it, its `version`, and the import `package` that holds it. Our own collection is
        one. Two rows with one name are ambiguous: that collection cannot be opened. Only our own
        always can: it is the code that runs.

    Example:
        >>> import skills_bundle
        >>> "skills-bundle" in [row.name for row in skills_bundle.collections()]
        True
    """
    return declared.installed_collections()


def collection(name: str) -> Collection:
    """Open an installed collection: its lock is read, and every file of it is looked at once.

    Args:
        name: The collection's name, as its entry point spells it; `collections()` lists them.

    Raises:
        UnknownCollectionError: If no installed distribution declares it.
        UnreadableCollectionError: If one may declare it whose metadata cannot be read.
        AmbiguousCollectionError: If several do.
        BundleUnavailableError: If its package carries no lock that can be believed.

    Example:
        >>> import skills_bundle
        >>> own = skills_bundle.collection("skills-bundle")
        >>> own.name
        'skills-bundle'
    """
    return Collection(wiring.finder(name))


class Collection:
    """An installed collection, as its lock said when it was opened.

    Made by `collection`. Open it again to see what was installed since.

    Args:
        find: Locates the installation.
    """

    def __init__(self, find: Callable[[], Installed]) -> None:
        """Look at all of it once."""
        self._find = find
        self._opened = wiring.open_bundle(find)
        self._skills = tuple(Skill(row, self._opened) for row in self._opened.state.lock.skills)

    def __repr__(self) -> str:
        """Return which collection of which distribution this is."""
        owner = f"{self.package_name} {self.version or '(no version)'}"
        return f"<Collection {self.name!r} of {owner}: {_count(len(self._skills), 'skill')}>"

    @property
    def name(self) -> str:
        """The collection's name, as its lock carries it."""
        return self.provenance.collection

    @property
    def package_name(self) -> str:
        """Normalised name of the distribution that brought it."""
        return self.provenance.package_name

    @property
    def version(self) -> str:
        """Version of that distribution."""
        return self.provenance.package_version

    @property
    def provenance(self) -> Provenance:
        """What is known of the source of these bytes, three claims that stay apart.

        `source_provenance.status` says whether a commit is *asserted*, `build_verification` what
        the build *recorded*, and `integrity` whether the files matched the lock at the opening.
        """
        return self._opened.state.provenance

    @property
    def skills(self) -> tuple[Skill, ...]:
        """Every skill, sorted by path."""
        return self._skills

    @property
    def path(self) -> Path:
        """The skills folder on disk. Files you open there yourself are not compared with the lock.

        It may change at any time, and it may hold files that no lock lists.
        """
        return self._opened.folder

    def skill(self, name: str) -> Skill:
        """Return one skill.

        Args:
            name: Its name, or its path below the skills folder.

        Raises:
            UnknownSkillError: If there is none, with the name that was probably meant, or several
                have this name and none this path.
        """
        named = [row for row in self._skills if row.path_in_collection == name]
        named = named or [row for row in self._skills if row.name == name]
        if len(named) == 1:
            return named[0]
        if named:
            paths = ", ".join(row.path_in_collection for row in named)
            raise UnknownSkillError(
                f"Several skills are named {name!r}: use one of the paths {paths}."
            )
        known = [word for row in self._skills for word in (row.name, row.path_in_collection)]
        summary = f"The collection {self.name!r} has no skill {name!r}.{_guess(name, known)}"
        raise UnknownSkillError(summary)

    def verify(self) -> Verification:
        """Compare the installation with its lock and RECORD, as `skills-bundle verify` does.

        Everything is read anew, the package's own code included; since the opening, another
        version may have been installed. `verdict` and `exit_code` sum it up.

        Raises:
            BundleUnavailableError: If there is nothing left to verify.
        """
        return wiring.verify_installation(find=self._find)


class Skill:
    """One skill of an opened collection.

    Args:
        locked: What the lock says of it.
        opened: The collection's bundle.
    """

    def __init__(self, locked: LockedSkill, opened: OpenBundle) -> None:
        """Keep both; nothing is read."""
        self._locked = locked
        self._opened = opened

    def __repr__(self) -> str:
        """Return which skill of which collection this is."""
        owner = self._opened.state.provenance.collection
        return (
            f"<Skill {self.path_in_collection!r} of {owner!r}: {_count(len(self.files), 'file')}>"
        )

    @property
    def name(self) -> str:
        """The skill's name."""
        return self._locked.name

    @property
    def description(self) -> str:
        """What the skill is for, as its author wrote it."""
        return self._locked.description

    @property
    def tags(self) -> tuple[str, ...]:
        """The skill's tags, sorted."""
        return self._locked.tags

    @property
    def frontmatter(self) -> dict[str, JsonValue]:
        """Every field of the head of SKILL.md, in the author's order; a copy that is yours."""
        return copy.deepcopy(self._locked.frontmatter)

    @property
    def path_in_collection(self) -> str:
        """The skill's folder below the skills folder, `/` between components."""
        return self._locked.path

    @property
    def path(self) -> Path:
        """The skill's folder on disk, for programs that have to be given one.

        Files you open there yourself are not compared with the lock; `read` does that.
        """
        return self._opened.folder / to_disk(self._locked.path)

    @property
    def files(self) -> Mapping[str, LockedFile]:
        """Every locked file by its path below the skill, each with `size`, `sha256`, `executable`.

        Sorted by path. The records say what was locked; `read` finds out whether it still is.
        """
        return {file.path: file for file in self._locked.files}

    @property
    def provenance(self) -> Provenance:
        """The collection's provenance."""
        return self._opened.state.provenance

    def read(self, path: str = SKILL_MD) -> bytes:
        """Read a file, and return its bytes only if they are those that were locked.

        The file is opened once, following no link; the bytes returned are the bytes hashed.

        Args:
            path: A key of `files`.

        Raises:
            UnknownFileError: If the lock lists no such file in this skill.
            UnsafeFileError: If the file is not the one that was locked; `kind` says in what way.
        """
        if path not in self.files:
            summary = f"The skill {self.name!r} has no file {path!r}.{_guess(path, self.files)}"
            raise UnknownFileError(summary)
        locked = f"{self._locked.path}/{path}"
        try:
            return self._opened.bundle.read(locked)
        except UnsafeFileError as error:  # some name the path below site-packages
            raise UnsafeFileError(error.kind, locked) from error

    def read_text(self, path: str = SKILL_MD) -> str:
        """Read a file as UTF-8, line ends as they are, without a byte order mark.

        Args:
            path: A key of `files`.

        Raises:
            UnknownFileError: As `read`.
            UnsafeFileError: As `read`.
            UnicodeDecodeError: If it is not UTF-8.
        """
        return self.read(path).decode("utf-8-sig")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _guess(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
