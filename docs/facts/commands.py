"""Every command with its options, from click's own objects."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from facts.markdown import code, table
from skills_bundle.cli.framework import Command, Group
from skills_bundle.cli.main import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills_bundle.cli.framework import Example


def render() -> str:
    """Return one section for each command, in the order of the help."""
    return "\n\n".join(_section(words, command) for words, command in commands())


def _section(words: Sequence[str], command: click.Command) -> str:
    context = click.Context(command, info_name=" ".join(words))
    parts = [f"## `{' '.join(words)}`", _help(command)]
    parts += [_usage(command, context), _parameters(command, context)]
    if isinstance(command, Group):
        rows = [
            (f"[`{' '.join((*words, name))}`](#{_anchor((*words, name))})", entry.summary)
            for name, entry in command.entries.items()
        ]
        parts.append(table(("Command", "Does"), rows))
    if isinstance(command, Command):
        parts.append(_exit_codes(command))
    if isinstance(command, (Command, Group)):
        parts.append(_examples(command))
    return "\n\n".join(part for part in parts if part)


def _help(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or "").split("\f")[0]
    return "\n\n".join(" ".join(part.split()) for part in text.replace("\b\n", "").split("\n\n"))


def _usage(command: click.Command, context: click.Context) -> str:
    pieces = " ".join(command.collect_usage_pieces(context))
    return f"```text\n{context.command_path} {pieces}\n```"


def _parameters(command: click.Command, context: click.Context) -> str:
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [(code(record[0]), record[1]) for record in records if record is not None]
    return table(("Option", "Meaning"), rows)


def _exit_codes(command: Command) -> str:
    rows = [(str(number), text) for number, text in command.exit_codes.items()]
    return table(("Exit code", "When"), rows) if rows else ""


def _examples(command: Command | Group) -> str:
    # Each section starts in a folder of its own: examples of one command do not meet another's.
    marks = ["<!-- run: new folder -->\n", *[""] * len(command.examples)]
    return "\n\n".join(
        f"{example.purpose[0].upper()}{example.purpose[1:].rstrip(':')}:\n\n"
        f"{_elsewhere(example) or marks.pop(0)}```console\n$ {example.line}\n```"
        for example in command.examples
    )


def _elsewhere(example: Example) -> str:
    return f"<!-- run: elsewhere, {example.page} -->\n" if example.page else ""


def _anchor(words: Sequence[str]) -> str:
    return "-".join(words)
