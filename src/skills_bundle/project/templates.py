"""Record: the text of the files of a new project."""

from __future__ import annotations

from typing import Final

from skills_bundle import __version__
from skills_bundle.formats.toml_edit import literal

HATCHLING: Final = "hatchling==1.33.0"
"""The build backend of new projects: pinned, because it decides about the wheel's bytes."""
FIRST_VERSION: Final = "0.1.0"
HOOK_REQUIREMENT: Final = f"skills-bundle=={__version__}"
"""The build hook, pinned for the same reason."""

GITIGNORE: Final = "/dist/\n/.venv/\n__pycache__/\n"


def compatible(version: str = __version__) -> str:
    """Return the run-time requirement on skills-bundle: up to the next breaking version."""
    major, minor = version.split(".")[:2]
    upper = f"0.{int(minor) + 1}" if major == "0" else str(int(major) + 1)
    return f"skills-bundle>={version},<{upper}"


def pyproject_head(*, name: str, readme: str | None, license_file: bool) -> str:
    """Return [build-system] and [project] of a new project.

    Args:
        name: The project's name.
        readme: Name of its README, if there is one.
        license_file: Whether there is a licence file; its licence is not guessed.
    """
    lines = [
        "[build-system]",
        "# Pinned: both decide about the bytes of the wheel.",
        f"requires = [{literal(HATCHLING)}, {literal(HOOK_REQUIREMENT)}]",
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
    """Return the `__init__.py` of a package that holds only skills."""
    return f'"""The agent skills of {name}, in `.agents/skills` beside this file."""\n'


def command(collection: str, script: str) -> str:
    """Return the module of the project's own console script."""
    program = "" if script == collection else f", program={literal(script)}"
    return (
        f'"""The command `{script}`, which serves only this collection."""\n\n'
        "from skills_bundle import command_line\n\n"
        f"main = command_line({literal(collection)}{program})\n\n"
        'if __name__ == "__main__":\n    main()\n'
    )


def skill(name: str) -> str:
    """Return the SKILL.md of an example skill; it has no warnings."""
    return (
        f"---\nname: {name}\n"
        "description: Shows how a skill is written. Use when the user asks for an example of a "
        "skill. Replace it with a skill of your own.\n---\n\n# An example\n\n"
        "Describe here, step by step, how to do one task: what to look at first, which command "
        "to run,\nand how to check that it worked.\n\n"
        "Put longer material into `references/`, programs into `scripts/`, and link to each.\n"
    )


def readme(name: str, collection: str, script: str | None) -> str:
    """Return a README that shows how to change, build and serve the skills."""
    serve = (
        f"uvx --from {name}=={FIRST_VERSION} {script} mcp serve"
        if script
        else f"uvx --with {name}=={FIRST_VERSION} {HOOK_REQUIREMENT} "
        f"mcp serve --collection {collection}"
    )
    return (
        f"# {name}\n\nAgent skills, shipped as a Python wheel with a lock and a build receipt.\n\n"
        "After a change to a skill, update the lock and commit both:\n\n"
        "```console\n$ skills-bundle lock\n$ git add .\n$ git commit\n```\n\n"
        "Build sdist and wheel:\n\n```console\n$ uv build\n```\n\n"
        "The command for an MCP host once the wheel is published, always with a version:\n\n"
        f"```text\n{serve}\n```\n"
    )
