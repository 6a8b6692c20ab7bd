"""Edge: `completion`, the script that lets a shell complete our commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from skills_bundle.cli.framework import (
    PROGRAM,
    Command,
    Example,
    complete_variable,
    pass_output,
)

if TYPE_CHECKING:
    from skills_bundle.cli.output import Output


@click.command(
    cls=Command,
    help="""Print a shell completion script.

    The script asks the program itself what can come next, so it never goes stale. It needs bash
    4.4 or later, zsh with compinit, or fish.
    """,
    examples=[
        Example("bash, in ~/.bashrc:", 'eval "$(skills-bundle completion bash)"'),
        Example(
            "zsh, once; source the file in ~/.zshrc after compinit:",
            "skills-bundle completion zsh > ~/.skills-bundle.zsh",
        ),
        Example(
            "fish, once; move the file into ~/.config/fish/completions:",
            "skills-bundle completion fish > skills-bundle.fish",
        ),
    ],
    exit_codes={0: "the script was printed", 2: "no such shell"},
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
@pass_output
def completion(output: Output, context: click.Context, shell: str) -> int:
    """Print a shell completion script."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"No completion for {shell}.")
    root = context.find_root()
    program = root.info_name or PROGRAM
    script = kind(root.command, {}, program, complete_variable(program)).source()
    output.data(script.encode())
    return 0
