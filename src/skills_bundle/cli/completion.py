"""Edge: shell completion: the `completion` command, and what TAB offers for arguments and options.

Completers never print or fail: with a broken installation they offer nothing. They import what they
need when they run, because `mcp serve`, whose options have completers, has to start fast.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem, get_completion_class

from skills_bundle.cli.framework import (
    PROGRAM,
    Command,
    Example,
    completion_variable,
    pass_output,
)
from skills_bundle.cli.output import Output
from skills_bundle.errors import SkillsBundleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skills_bundle.installed.bundle import BundleState

DESCRIPTION_CHARACTERS: Final = 60
"""Characters of a description that shells show beside a name."""


@click.command(
    cls=Command,
    help="""Print a shell completion script.

    The script asks the program itself for completions, so it works with later versions. It needs
    bash 4.4 or later, zsh with compinit, or fish.
    """,
    examples=[
        Example("bash, in ~/.bashrc:", 'eval "$(skills-bundle completion bash)"'),
        Example(
            "zsh, once; then source the file in ~/.zshrc, after compinit:",
            "skills-bundle completion zsh > ~/.skills-bundle.zsh",
        ),
        Example(
            "fish, once; then move the file into ~/.config/fish/completions:",
            "skills-bundle completion fish > skills-bundle.fish",
        ),
    ],
    exit_codes={0: "the script was printed", 2: "unknown shell"},
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
@pass_output
def command(output: Output, context: click.Context, shell: str) -> int:
    """Print a shell completion script."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    root = context.find_root()
    program = root.info_name or PROGRAM
    script = kind(root.command, {}, program, completion_variable(program)).source()
    output.data(script.encode())
    return 0


def skills(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the paths of skills, and their names where these differ."""
    locked = [skill for view in _views(context) for skill in view.lock.skills]
    rows = {skill.path: skill.description for skill in locked}
    rows |= {skill.name: skill.description for skill in locked if skill.name not in rows}
    return [
        CompletionItem(key, help=" ".join(text.split())[:DESCRIPTION_CHARACTERS])
        for key, text in rows.items()
        if key.startswith(incomplete)
    ]


def skills_of_one_collection(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the skills of `--collection`, or of skills-bundle itself without that option."""
    from skills_bundle.installed.location import OWN_NAME  # noqa: PLC0415 - see the module

    context.params["collection"] = context.params.get("collection") or OWN_NAME
    return skills(context, parameter, incomplete)


def collections(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of installed collections."""
    from skills_bundle.installed import collections as declared  # noqa: PLC0415 - see the module

    rows = {row.name: row for row in declared.installed_collections()}
    return [
        CompletionItem(name, help=f"{row.distribution} {row.version}")
        for name, row in rows.items()
        if name.startswith(incomplete)
    ]


def resources(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the files of the skill before the cursor that `--resources` allows to be read."""
    from skills_bundle.catalog.reading import is_markdown_resource  # noqa: PLC0415 - see the module

    key, everything = context.params.get("skill"), context.params.get("resources") != "markdown"
    locked = [skill for view in _views(context) for skill in view.lock.skills]
    files = [file for skill in locked if key in {skill.path, skill.name} for file in skill.files]
    readable = dict.fromkeys(
        file.path for file in files if everything or is_markdown_resource(file.path)
    )
    return [CompletionItem(path) for path in readable if path.startswith(incomplete)]


def names(known: Iterable[str]) -> Callable[..., list[CompletionItem]]:
    """Return a completer for a comma-separated list of names, each used once.

    Args:
        known: Every name.
    """

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        given = set(before.split(","))
        offered = [name for name in known if name.startswith(last) and name not in given]
        return [CompletionItem(f"{before}{comma}{name}") for name in offered]

    return complete


def _views(context: click.Context) -> list[BundleState]:
    """Return the readable bundles of the requested collections."""
    from skills_bundle.wiring import DeferredBundle, choose  # noqa: PLC0415 - see the module

    output = context.find_object(Output)
    program = None if output is None else output.program
    wanted = context.params.get("collection") if program is None else program.collection
    views: list[BundleState] = []
    with suppress(SkillsBundleError):
        finders = choose([wanted] if isinstance(wanted, str) else wanted or ()).finders
        for find in finders.values():
            with suppress(SkillsBundleError):
                views.append(DeferredBundle(find).current())
    return views
