"""Edge: `command_line`, which gives a project its own console script for its own collection.

The script runs the commands of `skills-bundle` that are about one collection, without their
`--collection` option. Help, problems and hints then name the script, which is the only program its
users know.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

import click

from skills_bundle import __version__
from skills_bundle.cli import main as entry
from skills_bundle.cli.framework import PROGRAM, Command, Example, Group, help_if_bare
from skills_bundle.cli.groups import root
from skills_bundle.installed import collections as declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skills_bundle.cli.failures import Failure
    from skills_bundle.cli.framework import Entry

HELP: Final = """Search, read, verify and serve the skills of {collection}.

Every command works offline. Answers go to standard output, problems to standard error.
"""
COMMANDS: Final = (
    "mcp serve",
    "mcp check",
    "verify",
    "export",
    "catalog search",
    "catalog read",
    "catalog overview",
    "receipt show",
    "completion",
)
"""The commands that a project's console script has."""
REMOVED_OPTIONS: Final = frozenset({"collection", "file"})
"""Parameters that its commands do not have: they always use its installed collection."""
ENDS: Final = ("`", " ", "\n", ".", ",", ";")
"""What can follow a command in our texts; `-` cannot, as in `verify-source`."""


def command_line(collection: str, *, program: str | None = None) -> Callable[[], NoReturn]:
    """Return the entry point of a console script that serves one collection.

    In a module of your package, say `acme_skills/__main__.py`:

    ```python
    from skills_bundle import command_line

    main = command_line("acme-skills")
    ```

    and in its pyproject.toml, `[project.scripts]`: `acme-skills = "acme_skills.__main__:main"`.
    The distribution has to depend on skills-bundle.

    Args:
        collection: The collection's name, as in the project's entry point.
        program: The script's name, for help and hints; by default the collection's name.

    Returns:
        A function that runs the program with the arguments of this process, and exits.
    """
    return partial(entry.main, program=Program(program or collection, collection))


@dataclass(frozen=True, slots=True)
class Program:
    """A console script that runs our commands for one collection.

    Attributes:
        name: The script's name.
        collection: The collection it serves.
    """

    name: str
    collection: str

    def version(self) -> str:
        """Return the version of the distribution that declares the collection, with ours beside.

        Raises:
            SkillsBundleError: If no distribution declares it, or several.
        """
        declared.find(self.collection)
        rows = declared.installed_collections()
        version = next(row.version for row in rows if row.name == self.collection)
        return f"{version} (skills-bundle {__version__})"

    def commands(self) -> Group:
        """Return the script's commands."""
        group = _ScriptGroup(self, (), root, HELP.format(collection=self.collection))
        group.params.append(_version_option(self))
        return group

    def spell(self, text: str) -> str:
        """Replace `skills-bundle` in commands that this program has, and drop `--collection`."""
        text = text.replace(f" --collection {self.collection}", "")
        for command in COMMANDS:
            for end in ENDS:
                text = text.replace(f"{PROGRAM} {command}{end}", f"{self.name} {command}{end}")
        return text

    def spell_line(self, line: str) -> str:
        """Spell one command line."""
        return self.spell(f"{line}\n")[:-1]

    def failure(self, failure: Failure) -> Failure:
        """Spell the texts of a failure."""
        parts = (failure.message, failure.next_step, failure.explanation)
        message, step, explanation = (part and self.spell(part) for part in parts)
        return replace(
            failure,
            message=message or "",
            next_step=step,
            explanation=explanation,
            problems=tuple(
                replace(problem, message=self.spell(problem.message))
                for problem in failure.problems
            ),
        )

    def examples(self, examples: Iterable[Example]) -> list[Example]:
        """Return the examples that this program can run, in its spelling.

        Our own skills are in some of them; this collection may not have these.
        """
        lines = {
            example.purpose: self.spell_line(example.line)
            .replace("writing-agent-skills", "NAME")
            .replace("catalog search mcp", "catalog search WORD")
            .replace(f"{PROGRAM}.", f"{self.name}.")
            for example in examples
            if "--collection" not in example.line and "--file" not in example.line
        }
        return [
            Example(self.spell(purpose), line.replace(f"{PROGRAM} ", f"{self.name} "))
            for purpose, line in lines.items()
            if f"{self.name} " in line
        ]


class _ScriptGroup(Group):
    """A group of `skills-bundle` with the commands of a project's script only."""

    def __init__(self, program: Program, words: tuple[str, ...], group: Group, text: str) -> None:
        super().__init__(
            name=group.name,
            help=text,
            entries={
                name: entry for name, entry in group.entries.items() if _has((*words, name), entry)
            },
            examples=program.examples(group.examples),
            callback=click.pass_context(help_if_bare),
        )
        self._program = program
        self._words = words

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and return it without `--collection`."""
        command = super().get_command(ctx, cmd_name)
        if isinstance(command, Group):
            text = self._program.spell(command.help_without_collections)
            return _ScriptGroup(self._program, (*self._words, cmd_name), command, text)
        return _bound(command, self._program) if isinstance(command, Command) else command

    def suggestion(self, name: str, ctx: click.Context) -> str:
        """Suggest a command of this program, or one such as `lock` that only ours has."""
        suggestion = super().suggestion(name, ctx)
        ours = root.command_paths(ctx)
        if suggestion.endswith(f" {name}") or name not in ours:
            return suggestion
        return f"{PROGRAM} {ours[name]}"


def _has(words: tuple[str, ...], entry: Entry) -> bool:
    path = " ".join(words)
    return path in COMMANDS or (
        entry.is_group and any(command.startswith(f"{path} ") for command in COMMANDS)
    )


def _bound(command: Command, program: Program) -> Command:
    """Return a copy of a command that has no `--collection` and acts as if it were given."""
    bound = copy.copy(command)
    removed = [row for row in command.params if row.name in REMOVED_OPTIONS]
    bound.params = [row for row in command.params if row.name not in REMOVED_OPTIONS]
    values: dict[str, object] = {}
    for row in removed:
        value = program.collection if row.name == "collection" else None
        values[str(row.name)] = (value,) if row.multiple else value
    if command.callback is not None:
        bound.callback = partial(command.callback, **values)
    bound.help = program.spell(command.help_without_collections)
    bound.examples = tuple(program.examples(command.examples))
    return bound


def _version_option(program: Program) -> click.Option:
    def show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
        if wanted and not context.resilient_parsing:
            click.echo(f"{program.name} {program.version()}")
            context.exit()

    return click.Option(
        ["-V", "--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the version and exit.",
    )
