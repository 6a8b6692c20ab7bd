"""Edge: the program's entry: arguments and environment in, exit code out, every error told once."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import shell_complete

from skills_bundle.cli import failures
from skills_bundle.cli.framework import COMPLETE_VARIABLE, ENVIRONMENT, PROGRAM, walk
from skills_bundle.cli.groups import root
from skills_bundle.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.cli.failures import Failure


def commands() -> list[tuple[tuple[str, ...], click.Command]]:
    """Give every group and command with the words that call it, for documentation and tests."""
    return list(walk(root, (PROGRAM,)))


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit.

    Args:
        argv: The arguments without the program's name; by default those of this process.
    """
    sys.exit(run(sys.argv[1:] if argv is None else argv, os.environ))


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run one command and give its exit code; every error has been told by then."""
    output = Output.standard(environ)
    try:
        code = _answer(list(arguments), environ, output)
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


def _answer(arguments: list[str], environ: Mapping[str, str], output: Output) -> int:
    """Run the command; turn what it raises into a report."""
    try:
        return _invoke(arguments, environ, output)
    except click.exceptions.Exit as leave:
        if leave.exit_code == failures.EXIT_OK:
            output.data(b"")  # help or a version, which click does not miss a standard output for
        return leave.exit_code
    except (BrokenPipeError, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001 - the last place where any error can be told well
        return _report(failures.of(error), output)


def _invoke(arguments: list[str], environ: Mapping[str, str], output: Output) -> int:
    instruction = environ.get(COMPLETE_VARIABLE)
    if instruction:
        return shell_complete(root, {"obj": output}, PROGRAM, COMPLETE_VARIABLE, instruction)
    with root.make_context(PROGRAM, arguments, obj=output) as context:
        context.meta[ENVIRONMENT] = environ
        code = root.invoke(context)
    return code if isinstance(code, int) else failures.EXIT_OK


def _report(failure: Failure, output: Output) -> int:
    output.failure(failure)
    return failure.exit_code
