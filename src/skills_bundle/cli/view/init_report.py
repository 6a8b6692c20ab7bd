"""Edge: one run of `init`, from what lies there to what became of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.cli import failures
from skills_bundle.cli.view.text import count
from skills_bundle.errors import InvalidSkillsError
from skills_bundle.project import existing, writing
from skills_bundle.project.plan import FileChange, choose_layout, plan_changes

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from skills_bundle.cli.failures import Failure
    from skills_bundle.project.existing import Configuration, ExistingFiles
    from skills_bundle.project.plan import InitOptions, Layout
    from skills_bundle.project.settings import Settings

Status = Literal["written", "unchanged", "planned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of `init` did.

    Attributes:
        status: What became of the files.
        folder: The project, as it was asked for.
        chosen: Names and places.
        changes: Every file that was, or would be, written.
        found: Number of skills in the skills folder.
        lock: What became of the lock, in words.
        refusal: Why there is no lock, if a skill was refused.
        in_repository: Whether git knows the folder.
        locks_itself: Whether what was made lies in the skills folder, so that the lock tells of it.
    """

    status: Status
    folder: str
    chosen: Layout
    changes: tuple[FileChange, ...]
    found: int
    lock: str
    refusal: Failure | None
    in_repository: bool
    locks_itself: bool

    @property
    def exit_code(self) -> int:
        """0, or 1 if there is no lock."""
        return failures.EXIT_OK if self.refusal is None else failures.EXIT_WRONG

    @property
    def total(self) -> str:
        """The number of skills in words."""
        return count(self.found, "skill")

    @property
    def files(self) -> tuple[str, ...]:
        """Each file with what was done to it."""
        return tuple(
            f"{row.path} ({'new' if row.old is None else 'added to'})" for row in self.changes
        )

    @property
    def next_steps(self) -> tuple[str, ...]:
        """Commands that lead from here to a wheel."""
        if self.status == "unchanged":
            return ()
        place = () if self.folder == "." else (f"cd {shlex.quote(self.folder)}",)
        start = () if self.in_repository else ("git init",)
        if start and self.locks_itself:  # it is git that tells the files of a project from others
            start = (*start, "skills-bundle lock")
        return (*place, *start, "git add .", 'git commit -m "Ship our skills"', "uv build")

    def to_dict(self) -> dict[str, JsonValue]:
        """Give the document that `--json` prints; `error` is there only without a lock."""
        chosen = self.chosen
        made: dict[str, JsonValue] = {
            "status": self.status,
            "project": self.folder,
            "name": chosen.name,
            "collection": chosen.collection,
            "package": chosen.package,
            "skills_folder": chosen.skills,
            "found": self.found,
            "left_out": [*chosen.left_out],
            "lock": self.lock,
            "files": [
                {"path": row.path, "action": "created" if row.old is None else "changed"}
                for row in self.changes
            ],
        }
        if self.refusal is not None:
            made["error"] = self.refusal.to_dict()
        return made


def run(folder: Path, options: InitOptions, *, dry_run: bool) -> Report:
    """Look, choose, plan and write.

    Args:
        folder: The project, or the place for one.
        options: The options of the command.
        dry_run: Whether to write nothing.

    Raises:
        SettingsError: With everything that stands against it; nothing was written.
        OSError: If something cannot be read or written; nothing was written.
    """
    found = existing.read_files(folder)
    said = existing.parse_configuration(
        found.files.get("pyproject.toml"), found.files.get("hatch.toml")
    )
    chosen = choose_layout(found, said, options)
    changes = plan_changes(chosen)
    lock, changes, refusal, number = _with_lock(found, said, chosen, changes)
    writing.check_places(found.folder, changes)
    locks_itself = _locks_itself(chosen, changes)
    if changes and not dry_run:
        writing.write_changes(found.folder, changes)
        if locks_itself:
            writing.renew_lock(found.folder, _settings(said, chosen))
    status: Status = "planned" if dry_run else "written" if changes else "unchanged"
    return Report(
        status=status,
        folder=str(folder),
        chosen=chosen,
        changes=changes,
        found=number,
        lock=lock,
        refusal=refusal,
        in_repository=found.in_repository,
        locks_itself=locks_itself,
    )


def _locks_itself(chosen: Layout, changes: tuple[FileChange, ...]) -> bool:
    """Tell whether a first lock has to speak of files that are made beside it, but for skills."""
    made = {row.path for row in changes}
    inside = {path for path in made if chosen.skills == "." or path.startswith(f"{chosen.skills}/")}
    return LOCK_FILE_NAME in made and any(
        not path.endswith("/SKILL.md") for path in inside - {LOCK_FILE_NAME}
    )


def _settings(said: Configuration, chosen: Layout) -> Settings:
    """Give the settings that the project will have."""
    base = said.settings or writing.settings_of(chosen.name)
    exclude = chosen.options.exclude or base.exclude
    return replace(base, skills=chosen.skills, collection=chosen.collection, exclude=exclude)


def _with_lock(
    found: ExistingFiles, said: Configuration, chosen: Layout, changes: tuple[FileChange, ...]
) -> tuple[str, tuple[FileChange, ...], Failure | None, int]:
    """Add the first lock to a plan, or say why there is none."""
    here = len(found.skill_folders) - len(chosen.left_out)
    if LOCK_FILE_NAME in found.present:
        return "there already; `skills-bundle lock --check` compares it", changes, None, here
    starter = next((row for row in changes if row.path.endswith("/SKILL.md")), None)
    try:
        data, result = writing.first_lock(found.folder, _settings(said, chosen), starter)
    except InvalidSkillsError as error:
        return "none: a skill is refused", changes, failures.of(error), here
    made = FileChange(LOCK_FILE_NAME, None, data)
    return f"made of {count(result.found, 'skill')}", (*changes, made), None, result.found
