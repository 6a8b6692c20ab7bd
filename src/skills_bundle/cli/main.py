"""Edge: the program's entry: arguments and environment in, exit code out, every error told once."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import shell_complete

from skills_bundle.cli import failures
from skills_bundle.cli.framework import ENVIRONMENT, PROGRAM, complete_variable, walk
from skills_bundle.cli.groups import root
from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skills_bundle.cli.failures import Failure
    from skills_bundle.cli.framework import Group
    from skills_bundle.cli.program import Program


def commands() -> list[tuple[tuple[str, ...], click.Command]]:
    """Give every group and command with the words that call it, for documentation and tests."""
    return list(walk(root, (PROGRAM,)))


def main(
    argv: Sequence[str] | None = None,
    *,
    tree: Callable[[], Group] = lambda: root,
    program: Program | None = None,
) -> NoReturn:
    """Run the program and exit.

    Args:
        argv: The arguments without the program's name; by default those of this process.
        tree: Gives the commands.
        program: A project's own program, or None for ours.
    """
    arguments = sys.argv[1:] if argv is None else argv
    environ = dict(os.environ)
    # Else pydantic would import whatever any package in this environment declares as its plugin,
    # into a process that verifies files, and would end it where one entry point cannot be read.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.exit(run(arguments, environ, tree=tree, program=program))


def run(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    tree: Callable[[], Group] = lambda: root,
    program: Program | None = None,
) -> int:
    """Run one command and give its exit code; every error has been told by then."""
    output = Output.standard(environ)
    output.program = program
    try:
        code = _answer(list(arguments), environ, output, tree)
        output.flush()
    except BrokenPipeError:
        output.abandon()
        return failures.EXIT_READER_GONE
    except (KeyboardInterrupt, click.Abort):
        output.note("interrupted")
        return failures.EXIT_INTERRUPTED
    except OSError as error:  # standard output cannot take the answer, as on a full disk
        output.abandon()
        output.as_json = False
        return _report(failures.of(error), output)
    return code


def _answer(
    arguments: list[str], environ: Mapping[str, str], output: Output, tree: Callable[[], Group]
) -> int:
    """Run the command; turn what it raises into a report."""
    try:
        return _invoke(arguments, environ, output, tree())
    except click.exceptions.Exit as leave:
        if leave.exit_code == failures.EXIT_OK:
            output.data(b"")  # help or a version, which click does not miss a standard output for
        return leave.exit_code
    except (BrokenPipeError, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001 - the last place where any error can be told well
        return _report(failures.of(error), output)


def _invoke(
    arguments: list[str], environ: Mapping[str, str], output: Output, commands: Group
) -> int:
    name = PROGRAM if output.program is None else output.program.name
    variable = complete_variable(name)
    if instruction := environ.get(variable):
        return shell_complete(commands, {"obj": output}, name, variable, instruction)
    with commands.make_context(name, arguments, obj=output) as context:
        context.meta[ENVIRONMENT] = environ
        code = commands.invoke(context)
    return code if isinstance(code, int) else failures.EXIT_OK


def _report(failure: Failure, output: Output) -> int:
    output.failure(failure)
    return failure.exit_code
