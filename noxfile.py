# /// script
# requires-python = ">=3.11"
# dependencies = ["nox>=2025.5"]
# ///
"""The developer's menu: `nox --list` shows it.

Plain `nox` runs the checks of a pull request in under five minutes, `nox -s quick` the part to run
while working, and `nox -s full` everything that continuous integration runs after plain `nox`. The
other sessions are run by hand.

Each session creates its own virtual environment and installs what it needs. Arguments after `--` go
to the tool: `nox -s tests -- -k read`.
"""

from __future__ import annotations

import os
import sys

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")
LOWEST = nox.project.python_versions(PYPROJECT)[0]

nox.needs_version = ">=2025.5"
# A developer rarely has every Python; a missing one is listed as skipped, never as passed.
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = [
    "lint",
    "types",
    "layers",
    "quick",
    "property",
    "smoke",
]
UNIT = ["--ignore=tests/property", "--ignore=tests/end_to_end"]


def install(session: nox.Session, *groups: str, project: bool = True) -> None:
    """Install dependency groups, and the project editable, as it is developed."""
    names = [name for group in groups for name in nox.project.dependency_groups(PYPROJECT, group)]
    session.install(*names)
    if project:
        session.install("-e", ".[hatch]")
    session.env["PYTHONWARNDEFAULTENCODING"] = "1"


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest on two workers; arguments after `--` replace the given ones."""
    session.run("python", "-m", "pytest", "-n", "2", *(session.posargs or arguments))


@nox.session(python=LOWEST)
def lint(session: nox.Session) -> None:
    """Check style, format, docstring coverage and declared dependencies."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("interrogate", "--quiet", "src", "tests")
    session.run("deptry", "src")


@nox.session(python=LOWEST)
def types(session: nox.Session) -> None:
    """Check every type: pyright, strict, sources and tests alike."""
    install(session, "typing")
    session.run("pyright", *session.posargs)


@nox.session(python=LOWEST)
def layers(session: nox.Session) -> None:
    """Check the direction of imports and the promises that are facts about imports."""
    install(session, "layers")
    session.run("lint-imports")


@nox.session(python=LOWEST)
def quick(session: nox.Session) -> None:
    """Run the unit tests that start no slow process: under a minute on two cores."""
    install(session, "tests")
    pytest(session, "-m", "not slow", *UNIT)


@nox.session(python=nox.project.python_versions(PYPROJECT))
def tests(session: nox.Session) -> None:
    """Run all unit tests on every supported Python that is installed; the lowest is required."""
    install(session, "tests")
    pytest(session, *UNIT)


@nox.session(name="property", python=LOWEST)
def property_(session: nox.Session) -> None:
    """Check laws with hypothesis: round trips, every bit flipped, order does not matter."""
    install(session, "tests")
    pytest(session, "--hypothesis-profile=brief", "tests/property")


@nox.session(python=LOWEST)
def smoke(session: nox.Session) -> None:
    """Build the wheel, install it without a network, serve it to a real client, verify it."""
    install(session, "end_to_end")
    pytest(session, "tests/end_to_end/test_offline_install.py", "-k", "uv-uv")


@nox.session(python=False)
def full(session: nox.Session) -> None:
    """Queue every session that continuous integration runs after plain `nox`."""
    for name in ("tests", "end_to_end", "docs", "build"):
        session.notify(name)
    session.notify("property", ["--hypothesis-profile=thorough", "tests/property"])


@nox.session(python=LOWEST)
def fuzz(session: nox.Session) -> None:
    """Fuzz parsers and a whole session with atheris, a minute each; `-- --seconds N` for longer."""
    install(session, "fuzz")
    session.run("python", "-m", "tests.fuzz", *session.posargs)


@nox.session(python=LOWEST)
def end_to_end(session: nox.Session) -> None:
    """Build with real front ends, install without a network, serve to a real client."""
    install(session, "end_to_end")
    # One worker a file: what a module builds is built once. As they come: those with many tests
    # are not those that take long.
    pytest(session, "--dist=loadscope", "--no-loadscope-reorder", "tests/end_to_end")


@nox.session(python=LOWEST)
def docs(session: nox.Session) -> None:
    """Build the documentation, warnings as errors, and check that generated pages are current."""
    install(session, "docs")
    session.run("python", "docs/generate.py", "--check")
    session.run("sphinx-build", "-q", "-W", "-b", "html", "docs", "docs/_build")


@nox.session(python=LOWEST)
def build(session: nox.Session) -> None:
    """Build sdist and wheel twice, from two clones under different circumstances, and compare."""
    session.install("build")
    session.run("python", "tests/end_to_end/build_twice.py", *session.posargs)


@nox.session(python=LOWEST)
def release(session: nox.Session) -> None:
    """Build the version's tag in two environments, compare, verify; `-- FOLDER` gets the result."""
    session.install("uv")
    session.run("python", "-m", "tests.release", *(session.posargs or ["dist/release"]))


@nox.session(python=LOWEST)
def constraints(session: nox.Session) -> None:
    """Pin what builds this project anew, with digests, in `build-constraints.txt`."""
    session.install("uv", "-e", ".[hatch]")
    session.run("python", "-m", "tests.release.constraints")


@nox.session(python=LOWEST)
def reproducible(session: nox.Session) -> None:
    """Build two projects under every circumstance there is here; `-- --only clock`, `-- --json`."""
    install(session, "end_to_end")
    session.run("python", "-m", "tests.reproducible", *session.posargs)


@nox.session(python=LOWEST)
def conformance(session: nox.Session) -> None:
    """Try the built wheel with clients and suites of others, and record how it went; needs npm."""
    session.install("build", "uv")
    session.run("python", "-m", "tests.conformance", session.create_tmp())


@nox.session(python=LOWEST)
def reparse(session: nox.Session) -> None:
    """Have every skill with an entry read by four YAML readers; `-- CLONE ...` for collections."""
    install(session, "tests")
    folder = session.create_tmp()
    session.run("python", "-m", "tests.reparse", folder, *(session.posargs or ["skills"]))


@nox.session(python=LOWEST)
def benchmarks(session: nox.Session) -> None:
    """Build and install the wheel beside its peer, and print how their times compare."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "benchmarks"), ".")
    # Bytecode is part of what is compared: an installation that is used has it.
    session.env["PYTHONDONTWRITEBYTECODE"] = ""
    session.run("python", "-P", "benchmarks/serve.py", *session.posargs)
    session.run("python", "-P", "benchmarks/memory.py")
    session.run("python", "-P", "benchmarks/http_load.py")


if __name__ == "__main__":
    # `python noxfile.py` for people without nox: `pipx run noxfile.py` reads the header above.
    sys.exit(os.execvp("nox", ["nox", *sys.argv[1:]]))  # noqa: S606, S607  nox from the PATH is meant
