"""Edge: git's ignore files of one work tree: every `.gitignore`, `info/exclude`, the user's own.

The nearest `.gitignore` counts most, then those further up, then `info/exclude`, then the file that
`core.excludesFile` names. What lies in an ignored folder is ignored whatever is said of it below.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from skills_bundle.errors import CheckoutError
from skills_bundle.files.names import to_disk
from skills_bundle.files.paths import parents
from skills_bundle.git import ignore_rules, limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pygit2

    from skills_bundle.git.ignore_rules import Rule

IGNORE_FILE: Final = ".gitignore"

_NOTHING_THERE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class IgnoreFiles:
    """What the ignore files of a work tree say. Paths are relative to its top.

    Args:
        top: The work tree.
        shared: Files that hold for all of it, the one that counts most first.
        any_case: Whether upper and lower case are one (`core.ignoreCase`).
        left_out: Gives the bytes of a tracked file that a sparse checkout left out, or None.
    """

    def __init__(
        self,
        top: Path,
        shared: Sequence[Path],
        *,
        any_case: bool = False,
        left_out: Callable[[str], bytes | None] = lambda _: None,
    ) -> None:
        """Read the shared files; the others when they are needed."""
        self._top = top
        self._any_case = any_case
        self._left_out = left_out
        self._shared = [self._rules(_read(path)) for path in shared]
        self._own: dict[str, tuple[Rule, ...]] = {}
        self._folders: dict[str, bool] = {}

    def ignored(self, path: str) -> bool:
        """Tell whether a path matches; git ignores it then unless it is tracked.

        Raises:
            CheckoutError: If an ignore file cannot be read.
        """
        for folder in parents(path):
            if folder not in self._folders:
                self._folders[folder] = self._matches(folder, lambda: True)
            if self._folders[folder]:
                return True
        return self._matches(path, lambda: self._is_folder(path))

    def _matches(self, path: str, is_folder: Callable[[], bool]) -> bool:
        """Ask the files one after another; the first one that has an opinion decides."""
        spelled = _bytes(path)
        for folder in ["", *parents(path)][::-1]:
            base = f"{_bytes(folder)}/" if folder else ""
            found = ignore_rules.verdict(self._of(folder), spelled, base, is_folder)
            if found is not None:
                return found
        for rules in self._shared:
            found = ignore_rules.verdict(rules, spelled, "", is_folder)
            if found is not None:
                return found
        return False

    def _of(self, folder: str) -> tuple[Rule, ...]:
        if folder not in self._own:
            path = f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE
            place = self._top / to_disk(path)
            # Git does not follow a link here.
            data = b"" if place.is_symlink() else _read(place)
            self._own[folder] = self._rules(data if data is not None else self._left_out(path))
        return self._own[folder]

    def _rules(self, data: bytes | None) -> tuple[Rule, ...]:
        """Give a file's rules, the one that counts most first."""
        return ignore_rules.read(data or b"", any_case=self._any_case)[::-1]

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(self._top / to_disk(path)).st_mode)
        except OSError:
            return False


def of_repository(
    repository: pygit2.Repository, top: Path, left_out: Callable[[str], bytes | None]
) -> IgnoreFiles:
    """Give the ignore files of an opened repository.

    Args:
        repository: With its configuration and the user's.
        top: Its work tree.
        left_out: See `IgnoreFiles`.
    """
    config = repository.config
    any_case = "core.ignorecase" in config and config.get_bool("core.ignorecase")
    shared = [_common(Path(repository.path)) / "info/exclude"]
    if (excludes := _excludes_file(config, top)) is not None:
        shared.append(excludes)
    return IgnoreFiles(top, shared, any_case=any_case, left_out=left_out)


def _common(folder: Path) -> Path:
    """Give the git folder that the worktrees of a repository share."""
    pointer = folder / "commondir"
    return folder / pointer.read_text("utf-8").strip() if pointer.is_file() else folder


def _excludes_file(config: pygit2.Config, top: Path) -> Path | None:
    """Give the user's own ignore file: `core.excludesFile`, else `ignore` in git's XDG folder."""
    if "core.excludesfile" in config:
        named = config["core.excludesfile"]
        return top / Path(named).expanduser() if named else None
    import pygit2  # noqa: PLC0415 - see `bundle.checkout`

    places = cast("Mapping[int, str]", pygit2.settings.search_path)  # a list without a type
    folder = places[pygit2.enums.ConfigLevel.XDG]
    return Path(folder) / "ignore" if folder else None


def _bytes(path: str) -> str:
    """Give a path as the rules want it: one character a byte."""
    return path.encode("utf-8", "surrogateescape").decode("latin-1")


def _read(path: Path) -> bytes | None:
    """Read an ignore file; None if there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.IGNORE_FILE_MAX_BYTES + 1)
    except _NOTHING_THERE:
        return None
    except OSError as error:
        message = f"The ignore file {path} cannot be read: {error.strerror}."
        raise CheckoutError(message, reason="git_unavailable") from error
    if len(data) > limits.IGNORE_FILE_MAX_BYTES:
        message = f"The ignore file {path} has more than {limits.IGNORE_FILE_MAX_BYTES} bytes."
        raise CheckoutError(message, reason="git_unavailable")
    return data
