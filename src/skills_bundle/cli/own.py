"""Edge: `command_line`, the console script of a project's own that serves only its collection."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from skills_bundle import __version__
from skills_bundle.cli import main as program_entry
from skills_bundle.cli.framework import PROGRAM, Command, Entry, Group, help_if_bare
from skills_bundle.cli.groups import mcp, root
from skills_bundle.cli.program import OWN_COMMANDS, Program
from skills_bundle.installed import collections as declared

if TYPE_CHECKING:
    from collections.abc import Callable

HELP: Final = """Search, read, verify and serve the skills of {collection}.

Every command works offline and answers for this one collection. Answers go to standard output,
problems to standard error.
"""
GROUP_HELP: Final = {
    "catalog": "Search and read the skills.\n\nThe answers are those of the MCP tools of the same "
    "names; with --json they are exactly theirs.",
    "receipt": "Show what the build recorded.\n\nA build receipt is an unsigned record: it says "
    "what the build saw of the checkout, and anyone who can change the files can change it too.",
    "mcp": mcp.help,
}
FIXED: Final = frozenset({"collection", "file"})
"""Options that an own program does not have: its collection is fixed, it shows no other file."""


def command_line(collection: str, *, program: str | None = None) -> Callable[[], NoReturn]:
    """Make the entry of a console script that serves one collection and no other.

    In a module of your package, say `acme_skills/__main__.py`:

    ```python
    from skills_bundle import command_line

    main = command_line("acme-skills")
    ```

    and in its pyproject.toml, `[project.scripts]`: `acme-skills = "acme_skills.__main__:main"`.
    The distribution has to depend on skills-bundle.

    Args:
        collection: The collection's name, as the project's entry point spells it.
        program: What the script is called; by default as the collection is. Help and hints say it.

    Returns:
        A function that runs the program with this process's arguments, and exits.
    """
    chosen = Program(program or collection, collection)
    return partial(program_entry.main, tree=partial(tree, chosen), program=chosen)


def tree(program: Program) -> Group:
    """Give the commands of an own program.

    Args:
        program: Its name and collection.
    """
    own = _OwnGroup(
        program,
        (),
        name=program.name,
        help=HELP.format(collection=program.collection),
        entries=root.entries,
        examples=root.examples,
    )
    own.params.append(_version_option(program))
    return own


class _OwnGroup(Group):
    """A group that has only the commands of an own program, each bound to its collection."""

    def __init__(self, program: Program, path: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 - click's own parameters
        """Keep what an own program has of a group."""
        given["entries"] = {
            name: entry for name, entry in given["entries"].items() if _is_own((*path, name), entry)
        }
        spelled = [program.example(row) for row in given["examples"]]
        given["examples"] = [
            row for row in spelled if row is not None and _is_shown(row.line, program)
        ]
        super().__init__(**given, callback=click.pass_context(help_if_bare))
        self._program = program
        self._path = path

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, and bind it."""
        found = super().get_command(ctx, cmd_name)
        path = (*self._path, cmd_name)
        if isinstance(found, Group):
            text = GROUP_HELP.get(cmd_name) or found.help
            return _OwnGroup(
                self._program,
                path,
                name=cmd_name,
                help=text,
                entries=found.entries,
                examples=found.examples,
            )
        return bound(found, self._program) if isinstance(found, Command) else found

    def _meant(self, name: str, ctx: click.Context) -> tuple[str, ...]:
        """Give what was meant; what an own program does not have, such as `lock`, ours does."""
        own = super()._meant(name, ctx)
        if own[-1:] == (name,):
            return own
        return root.table((PROGRAM,), ctx).get(name, own)


def _is_own(path: tuple[str, ...], entry: Entry) -> bool:
    words = " ".join(path)
    return words in OWN_COMMANDS or (
        entry.is_group and any(command.startswith(f"{words} ") for command in OWN_COMMANDS)
    )


def _is_shown(line: str, program: Program) -> bool:
    return any(line.startswith(f"{program.name} {command}") for command in OWN_COMMANDS)


def bound(command: Command, program: Program) -> Command:
    """Give a copy of a command that has no `--collection` and acts as if it had been given.

    Args:
        command: As `skills-bundle` has it.
        program: Whose it becomes.
    """
    own = copy.copy(command)
    missing = [row for row in command.params if row.name in FIXED]
    own.params = [row for row in command.params if row.name not in FIXED]
    values: dict[str, object] = {}
    for row in missing:
        value = program.collection if row.name == "collection" else None
        values[str(row.name)] = (value,) if row.multiple else value
    if command.callback is not None:
        own.callback = partial(command.callback, **values)
    own.help = program.help(command.help or "")
    spelled = [program.example(row) for row in command.examples]
    own.examples = tuple(row for row in spelled if row is not None)
    return own


def _version_option(program: Program) -> click.Option:
    def show(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
        if wanted and not context.resilient_parsing:
            click.echo(f"{program.name} {_version(program)} (skills-bundle {__version__})")
            context.exit()

    return click.Option(
        ["-V", "--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the version and exit.",
    )


def _version(program: Program) -> str:
    """Give the version of the distribution that brings the collection.

    Raises:
        UnknownCollectionError: If none does.
        AmbiguousCollectionError: If several do.
    """
    declared.find(program.collection)
    rows = declared.installed_collections()
    return next(row.version for row in rows if row.name == program.collection)
