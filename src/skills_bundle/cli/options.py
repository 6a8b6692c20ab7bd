"""Edge: the options that several commands share, each declared once."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from skills_bundle.cli import completion
from skills_bundle.cli.framework import JSON_PARAMETER, PROGRAM
from skills_bundle.cli.output import Output
from skills_bundle.errors import ToolError
from skills_bundle.skills.codes import ALLOWABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def _set_json(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    output = context.find_object(Output)
    if output is not None:
        output.as_json = wanted


json_option: Final = click.option(
    "--json",
    JSON_PARAMETER,
    is_flag=True,
    expose_value=False,
    callback=_set_json,
    help="Print one JSON document.",
)
"""Add `--json`, which sets `Output.as_json`."""

exclude_option: Final = click.option(
    "--exclude",
    metavar="PATH",
    multiple=True,
    help="A folder in the skills folder to leave out; can be repeated.",
)
"""Add `--exclude`, which adds to the project's setting."""

allow_option: Final = click.option(
    "--allow",
    metavar="CODE",
    multiple=True,
    type=click.Choice(ALLOWABLE),
    help="Lock skills with this diagnostic instead of refusing them: name_mismatch.",
)
"""Add `--allow`, which adds to the project's setting."""

collection_option: Final = click.option(
    "--collection",
    metavar="NAME",
    shell_complete=completion.collections,
    help="An installed collection; `catalog collections` lists them.",
    show_default="the collection of skills-bundle itself",
)
"""Add `--collection` to a command about one installation; `wiring.finder` takes its value."""

skill_collection_option: Final = click.option(
    "--collection",
    metavar="NAME",
    shell_complete=completion.collections,
    help="The installed collection that has the skill; `catalog collections` lists them.",
    show_default="any collection",
)
"""Add `--collection` to a command about one skill; `wiring.choose` takes its value in a list."""

collections_option: Final = click.option(
    "--collection",
    metavar="NAME",
    multiple=True,
    shell_complete=completion.collections,
    help="An installed collection; can be repeated. `catalog collections` lists them.",
    show_default="every installed collection",
)
"""Add a `--collection` that can be repeated; `wiring.choose` takes its value."""

resources_option: Final = click.option(
    "--resources",
    type=click.Choice(["markdown", "all"]),
    default="all",
    help="Readable files: every text file, or only SKILL.md and Markdown in references/.",
)
"""Add `--resources`, whose value is a `catalog.reading.Resources`."""

archive_argument: Final = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
"""Add the path of a wheel or sdist."""

repository_option: Final = click.option(
    "--repo",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A git repository, or a folder in one. It is only read.",
)
"""Add `--repo`, the local git repository that has the archive's commit."""

project_option: Final = click.option(
    "--project",
    metavar="PATH",
    help="The project's folder in the repository.",
    show_default="the folder of the archive's lock",
)
"""Add `--project`, for a repository with several projects."""

verbose_option: Final = click.option(
    "--verbose", is_flag=True, help="List every file, with its size and digest."
)
"""Add `--verbose` to a command that reports about files."""

signers_option: Final = click.option(
    "--signed-by",
    "signers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="ALLOWED_SIGNERS",
    help="Require an SSH signature by a signer in this file.",
)
"""Add `--signed-by`, a file of allowed signers as `ssh-keygen` reads it."""


def read_option_file(path: Path, limit: int, option: str) -> bytes:
    """Read a file that an option names; it can be a pipe.

    Raises:
        click.BadParameter: If it has more bytes than the limit.
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise click.BadParameter(f"{path} has more than {limit} bytes.", param_hint=option)
    return data


def as_names(collection: str | None) -> tuple[str, ...]:
    """Return the value of a single `--collection` as a list of names."""
    return () if collection is None else (collection,)


def command_line(words: str, collections: str | Sequence[str] | None) -> str:
    """Return a command for some collections, as the user of the running program would type it.

    Args:
        words: The command without the program.
        collections: The value of `--collection`.
    """
    names = as_names(collections) if isinstance(collections, str | None) else collections
    options = [word for name in names for word in ("--collection", name)]
    line = shlex.join([PROGRAM, *words.split(), *options])
    context = click.get_current_context(silent=True)
    output = None if context is None else context.find_object(Output)
    return line if output is None or output.program is None else output.program.spell_line(line)


@contextmanager
def naming_collections(collections: Sequence[str]) -> Generator[None]:
    """Add to an error about an unavailable catalog which command checks these collections.

    The tool's own message is fixed, and names the command without `--collection`.

    Args:
        collections: The value of `--collection`.
    """
    try:
        yield
    except ToolError as error:
        if error.code == "catalog_unavailable" and collections:
            commands = [f"`{command_line('verify', name)}`" for name in collections]
            which = "This collection" if len(commands) == 1 else "None of these collections"
            can = "cannot" if len(commands) == 1 else "can"
            error.add_note(f"{which} {can} be served. To see why, run {' and '.join(commands)}.")
        raise
