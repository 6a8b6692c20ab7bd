"""Record: the files that a project begins with, where it has none of their name."""

from __future__ import annotations

from typing import Final

from skills_bundle import __version__
from skills_bundle.formats.toml_edit import literal

HATCHLING: Final = "hatchling==1.33.0"
"""The build backend of new projects: pinned, since it decides about bytes of the wheel."""
FIRST_VERSION: Final = "0.1.0"
OURS: Final = f"skills-bundle=={__version__}"
"""The build hook, pinned for the same reason."""

GITIGNORE: Final = "/dist/\n/.venv/\n__pycache__/\n"


def compatible(version: str = __version__) -> str:
    """Give the requirement on us at run time: no version that may break what this one promises."""
    major, minor = version.split(".")[:2]
    upper = f"0.{int(minor) + 1}" if major == "0" else str(int(major) + 1)
    return f"skills-bundle>={version},<{upper}"


def pyproject_head(*, name: str, readme: str | None, license_file: bool) -> str:
    """Give the tables of a new project, as far as they do not depend on the bundle.

    Args:
        name: The project's.
        readme: Name of its README, if there is one.
        license_file: Whether a licence lies there; which one it is we do not say.
    """
    lines = [
        "[build-system]",
        "# Pinned: both decide about the bytes of the wheel.",
        f"requires = [{literal(HATCHLING)}, {literal(OURS)}]",
        'build-backend = "hatchling.build"',
        "",
        "[project]",
        f"name = {literal(name)}",
        f"version = {literal(FIRST_VERSION)}",
        f"description = {literal(f'Agent skills of {name}.')}",
        *([f"readme = {literal(readme)}"] if readme else []),
        'requires-python = ">=3.11"',
        *(['license-files = ["LICEN[CS]E*"]'] if license_file else []),
    ]
    return "\n".join(lines) + "\n"


def package(name: str) -> str:
    """Give the module of a package that holds nothing but skills."""
    return f'"""The agent skills of {name}, in `.agents/skills` beside this file."""\n'


def command(collection: str, script: str) -> str:
    """Give the module of a console script of the project's own."""
    program = "" if script == collection else f", program={literal(script)}"
    return (
        f'"""The command `{script}`, which serves this collection and no other."""\n\n'
        "from skills_bundle import command_line\n\n"
        f"main = command_line({literal(collection)}{program})\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )


def skill(name: str) -> str:
    """Give a skill to begin with; it passes every rule, strict ones too."""
    return (
        f"---\nname: {name}\n"
        "description: Shows how a skill is written. Use when somebody asks for an example of a "
        "skill, and replace it with one of your own.\n---\n\n# An example\n\n"
        "Say here, step by step, how one job is done: what to look at first, which command to "
        "run,\nand how to tell that it worked.\n\n"
        "Longer material goes into `references/`, programs into `scripts/`; name each file here.\n"
    )


def readme(name: str, collection: str, script: str | None) -> str:
    """Give a README that says how the skills are changed, built and served."""
    serve = (
        f"uvx --from {name}=={FIRST_VERSION} {script} mcp serve"
        if script
        else f"uvx --with {name}=={FIRST_VERSION} {OURS} mcp serve --collection {collection}"
    )
    return (
        f"# {name}\n\nAgent skills, shipped as a Python wheel with a lock and a build receipt.\n\n"
        "After a change to a skill, write the lock anew and commit both:\n\n"
        "```console\n$ skills-bundle lock\n$ git add .\n$ git commit\n```\n\n"
        "Build sdist and wheel:\n\n```console\n$ uv build\n```\n\n"
        "What an MCP host runs once the wheel is published, always with a version:\n\n"
        f"```text\n{serve}\n```\n"
    )
