"""Edge: the shape of every command: examples and exit codes in its help, `--json`, late imports."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROGRAM: Final = "skills-bundle"
CONTEXT_SETTINGS: Final[dict[str, Any]] = {
    "help_option_names": ["-h", "--help"],
    "show_default": True,
    "max_content_width": 100,
}

JSON_PARAMETER: Final = "as_json"
ARGUMENTS: Final = "skills_bundle.arguments"
"""Key of a context's `meta` that holds the command's arguments as they were typed."""
ENVIRONMENT: Final = "skills_bundle.environment"
"""Key of a context's `meta` that holds the environment of this run."""
GUESSES: Final = {
    "cat": "catalog read",
    "find": "catalog search",
    "help": "--help",
    "list": "catalog search",
    "ls": "catalog search",
    "run": "mcp serve",
    "start": "mcp serve",
    "test": "mcp check",
    "version": "--version",
}
"""Command names that people try first, with the command that does it."""


@dataclass(frozen=True, slots=True)
class Example:
    """A command line that works as written, with its purpose.

    Attributes:
        purpose: A few words.
        line: The command line, starting with `skills-bundle`.
        page: The page of the documentation that creates the files the line names, and runs it.
            None if the line works in any folder.
    """

    purpose: str
    line: str
    page: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is imported on first use.

    Attributes:
        summary: The first line of its help; a test keeps both equal.
        target: `module:attribute`.
        is_group: Whether it is a group; its module is then cheap to import.
    """

    summary: str
    target: str
    is_group: bool = False


class _HelpSections(click.Command):
    """Base of commands and groups: examples and exit codes in the help, `--json` known early."""

    examples: tuple[Example, ...] = ()
    exit_codes: Mapping[int, str] = {}
    help_without_collections: str = ""
    """The help for a program that serves one collection and has no `--collection`."""

    def _describe(
        self, examples: Sequence[Example], exit_codes: Mapping[int, str], about_collections: str
    ) -> None:
        """Set what the help shows; the paragraph about `--collection` goes last."""
        self.examples = tuple(examples)
        self.exit_codes = dict(sorted(exit_codes.items()))
        self.help_without_collections = cleandoc(self.help or "")
        paragraphs = [self.help_without_collections, cleandoc(about_collections)]
        self.help = "\n\n".join(filter(None, paragraphs))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, after looking for `--json`, so that usage errors are JSON as well."""
        ctx.meta[ARGUMENTS] = tuple(args)
        options = args[: args.index("--")] if "--" in args else args
        output = ctx.find_object(Output)
        if output is not None:
            output.as_json = "--json" in options and self._accepts_json()
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # Without a context, the hint would name the help of the whole program.
            error.ctx = error.ctx or ctx
            raise

    def _accepts_json(self) -> bool:
        return any(parameter.name == JSON_PARAMETER for parameter in self.params)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the exit codes."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}# {example.purpose}\n")
                    formatter.write(f"{'':{formatter.current_indent}}{example.line}\n")
        if self.exit_codes:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), text) for code, text in self.exit_codes.items()])


class Command(_HelpSections):
    """A command. Pass its help as `help`, because `python -OO` strips docstrings."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's own parameters pass through untouched
        examples: Sequence[Example] = (),
        exit_codes: Mapping[int, str] | None = None,
        about_collections: str = "",
        **kwargs: Any,  # noqa: ANN401 - likewise
    ) -> None:
        """Create a command.

        Args:
            args: For click.
            examples: Shown in the help.
            exit_codes: Exit codes with their meaning.
            about_collections: Last paragraph of the help, where there is a `--collection` option.
            kwargs: For click.
        """
        kwargs["context_settings"] = {**CONTEXT_SETTINGS, **kwargs.get("context_settings", {})}
        super().__init__(*args, **kwargs)
        self._describe(examples, exit_codes or {}, about_collections)


class Group(_HelpSections, click.Group):
    """A group of commands, each imported on first use.

    Without a command it prints its help and exits 0.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's own parameters pass through untouched
        entries: Mapping[str, Entry],
        examples: Sequence[Example] = (),
        about_collections: str = "",
        **kwargs: Any,  # noqa: ANN401 - likewise
    ) -> None:
        """Create a group.

        Args:
            args: For click.
            entries: The commands by name, in the order of the help.
            examples: Shown in the help.
            about_collections: Last paragraph of the help, where there is a `--collection` option.
            kwargs: For click.
        """
        kwargs.setdefault("invoke_without_command", True)
        kwargs["context_settings"] = {**CONTEXT_SETTINGS, **kwargs.get("context_settings", {})}
        super().__init__(*args, **kwargs)
        self.entries = dict(entries)
        self._describe(examples, {}, about_collections)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands in the order of the help."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import one command and return it."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise a usage error that suggests one."""
        name = args[0]
        if name in self.entries or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        suggestion = self.suggestion(name, ctx)
        hint = f" Did you mean `{suggestion}`?" if suggestion else ""
        raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)

    def _accepts_json(self) -> bool:
        return True  # the command that would decide may not exist

    def suggestion(self, name: str, ctx: click.Context) -> str:
        """Return the command line that a wrong name was probably meant for, or "".

        A command with exactly this name in another group goes before a similar name in this one.
        """
        root = ctx.find_root()
        program = root.info_name or PROGRAM
        known = dict(GUESSES)
        if isinstance(root.command, Group):
            known = {**root.command.command_paths(root), **GUESSES}
        if name in known:
            return f"{program} {known[name]}"
        if close := get_close_matches(name, self.entries, n=1):
            return f"{ctx.command_path} {close[0]}"
        close = get_close_matches(name, known, n=1)
        return f"{program} {known[close[0]]}" if close else ""

    def command_paths(self, ctx: click.Context) -> dict[str, str]:
        """Return every command in this group by its last word; only groups are imported."""
        paths: dict[str, str] = {}
        for name, entry in self.entries.items():
            if entry.is_group and isinstance(group := self.get_command(ctx, name), Group):
                below = group.command_paths(ctx)
                paths |= {word: f"{name} {path}" for word, path in below.items()}
        return paths | {name: name for name in self.entries}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the commands with their summaries, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without importing the commands, which would be slow."""
        names = [
            CompletionItem(name, help=entry.summary)
            for name, entry in self.entries.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def given_arguments(context: click.Context) -> tuple[str, ...]:
    """Return a command's arguments as they were typed."""
    return context.meta.get(ARGUMENTS, ())


def environment(context: click.Context) -> Mapping[str, str]:
    """Return the environment of this run, for the few options that need a variable."""
    return context.meta.get(ENVIRONMENT, {})


def help_if_bare(context: click.Context) -> None:
    """Print a group's help if no command was given."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


pass_output: Final = click.make_pass_decorator(Output)
"""Pass the `Output` of this run to a command as its first argument."""


def walk(group: Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a group and everything below it, each with its command line, in help's order."""
    yield path, group
    context = click.Context(group, info_name=path[-1])
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Group):
            yield from walk(command, (*path, name))
        elif command is not None:
            yield (*path, name), command


def completion_variable(program: str) -> str:
    """Return the environment variable through which a completion script asks a program."""
    return f"_{program}_COMPLETE".replace("-", "_").replace(".", "_").upper()
