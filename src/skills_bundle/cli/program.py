"""Decision: how the program calls itself, where its own name is not `skills-bundle`.

Every text of ours writes commands out: `skills-bundle verify`. A project's own console script runs
the same commands for one collection, and whoever runs it knows no other program; so the commands
that it has too are spelled with its name, and without the option it does not have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli.framework import PROGRAM, Example
from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from skills_bundle.cli.failures import Failure

OWN_COMMANDS: Final = (
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
"""The commands that a project's own console script has."""

_OURS: Final = re.compile(rf"\b{PROGRAM}(?= (?:{'|'.join(OWN_COMMANDS)})(?![\w-]))")
_OF_SENTENCE: Final = re.compile(r"(?:^|(?<=[.\n]))[^.\n]*(?:\n *[^.\n]+)*--collection[^.]*\.")
_OPTION: Final = re.compile(r" --collection [\w.-]+")
_OUR_SKILL: Final = "writing-agent-skills"
_OUR_WORD: Final = "catalog search mcp"
"""Our own skills have the word; those of others may not."""


@dataclass(frozen=True, slots=True)
class Program:
    """A console script that runs our commands for one collection.

    Attributes:
        name: What the script is called.
        collection: The only collection it answers for.
    """

    name: str
    collection: str

    def spell(self, text: str) -> str:
        """Spell every command that this program has as it has to be typed for it."""
        return _OURS.sub(lambda _: self.name, _OPTION.sub("", text))

    def failure(self, found: Failure) -> Failure:
        """Spell what a failure says."""
        said = (found.message, found.next_step, found.explained)
        message, step, explained = (text and self.spell(text) for text in said)
        problems = tuple(replace(row, message=self.spell(row.message)) for row in found.problems)
        return replace(
            found, message=message or "", next_step=step, explained=explained, problems=problems
        )

    def help(self, text: str) -> str:
        """Spell a command's help, leaving out the sentences about the missing option."""
        return self.spell(_OF_SENTENCE.sub("", text))

    def example(self, example: Example) -> Example | None:
        """Spell an example, or give None if it shows an option that this program does not have."""
        if "--collection" in example.line or "--file" in example.line:
            return None
        line = self.spell(example.line).replace(_OUR_SKILL, "NAME")
        line = line.replace(_OUR_WORD, "catalog search WORD")
        return Example(self.spell(example.purpose), line.replace(PROGRAM, self.name))


def spelled(text: str) -> str:
    """Spell commands as the program that is running would have them typed.

    Args:
        text: With commands as `skills-bundle` has them.
    """
    program = running(click.get_current_context(silent=True))
    return text if program is None else program.spell(text)


def running(context: click.Context | None) -> Program | None:
    """Give the own program that is running, or None if it is ours.

    Args:
        context: Any of its contexts.
    """
    output = None if context is None else context.find_object(Output)
    return None if output is None else output.program
