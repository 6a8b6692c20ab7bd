"""Edge: the program's entry: arguments and environment in, exit code out, every error reported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import shell_complete

from skills_bundle.cli import failures
from skills_bundle.cli.framework import ENVIRONMENT, PROGRAM, completion_variable, walk
from skills_bundle.cli.groups import root
from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.cli.console_script import Program


def commands() -> list[tuple[tuple[str, ...], click.Command]]:
    """Return every group and command with its command line, for documentation and tests."""
    return list(walk(root, (PROGRAM,)))


def main(argv: Sequence[str] | None = None, *, program: Program | None = None) -> NoReturn:
    """Run the program and exit.

    Args:
        argv: The arguments without the program's name; by default those of this process.
        program: A project's console script, or None for `skills-bundle`.
    """
    arguments = sys.argv[1:] if argv is None else argv
    environ = dict(os.environ)
    # pydantic would import the plugins that any package in this environment declares, and fail if
    # one entry point cannot be read.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.exit(run(arguments, environ, program=program))


def run(
    arguments: Sequence[str], environ: Mapping[str, str], *, program: Program | None = None
) -> int:
    """Run one command, report any error, and return the exit code."""
    output = Output.standard(environ, program)
    try:
        code = _run_reporting(list(arguments), environ, output)
        output.flush()
    except BrokenPipeError:
        output.abandon()
        return failures.EXIT_READER_GONE
    except (KeyboardInterrupt, click.Abort):
        output.note("interrupted")
        return failures.EXIT_INTERRUPTED
    except OSError as error:  # standard output cannot be written, for example on a full disk
        output.abandon()
        output.as_json = False
        return _report(error, output)
    return code


def _run_reporting(arguments: list[str], environ: Mapping[str, str], output: Output) -> int:
    """Run the command and report what it raises."""
    try:
        return _invoke(arguments, environ, output)
    except click.exceptions.Exit as leave:
        if leave.exit_code == failures.EXIT_OK:
            output.data(b"")  # fails if standard output is closed, where click prints nothing
        return leave.exit_code
    except (BrokenPipeError, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001 - the last place that can report an error well
        return _report(error, output)


def _invoke(arguments: list[str], environ: Mapping[str, str], output: Output) -> int:
    program = output.program
    name, group = (PROGRAM, root) if program is None else (program.name, program.commands())
    variable = completion_variable(name)
    if instruction := environ.get(variable):
        return shell_complete(group, {"obj": output}, name, variable, instruction)
    with group.make_context(name, arguments, obj=output) as context:
        context.meta[ENVIRONMENT] = environ
        code = group.invoke(context)
    return code if isinstance(code, int) else failures.EXIT_OK


def _report(error: Exception, output: Output) -> int:
    failure = failures.failure_of(error)
    output.failure(failure)
    return failure.exit_code
