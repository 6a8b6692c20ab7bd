"""Completion scripts: printed, and really completing in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.runner import call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.installed import OwnInstallation

pytestmark = pytest.mark.slow

BASH = shutil.which("bash")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    """The script asks the program by its own variable."""
    ran = call("completion", shell)
    assert ran.code == 0
    assert f"_SKILLS_BUNDLE_COMPLETE={shell}_complete" in ran.stdout


def test_another_shell_is_refused_with_the_ones_there_are() -> None:
    """Exit 2, and the message lists the choices."""
    ran = call("completion", "tcsh")
    assert (ran.code, ran.stdout) == (2, "")
    assert "'bash', 'zsh', 'fish'" in ran.stderr


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["rec"], ["receipt"]),
        (["mcp", ""], ["serve", "check"]),
        (["catalog", "se"], ["search"]),
        (["lock", "--str"], ["--strict"]),
        (["completion", "z"], ["zsh"]),
        (["catalog", "read", "al"], ["alpha"]),
        (["catalog", "read", "be"], ["beta"]),
        (["catalog", "read", "alpha", "references/g"], ["references/guide.md"]),
        (["catalog", "read", "--resources", "all", "alpha", "scr"], ["scripts/run.py"]),
        (["catalog", "read", "none-such", ""], []),
        (["mcp", "serve", "--toolsets", "cat"], ["catalog"]),
        (["verify", "--collection", "skills"], ["skills-bundle"]),
        (["mcp", "serve", "--toolsets", "catalog,a"], ["catalog,all"]),
    ],
    ids=" ".join,
)
def test_bash_completes(
    words: list[str], completed: list[str], whole: OwnInstallation, tmp_path: Path
) -> None:
    """A real bash that sourced the script offers the right words: commands, skills, files."""
    assert _completions(words, whole, tmp_path) == completed


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_with_a_broken_installation_nothing_is_offered(
    place: OwnInstallation, tmp_path: Path
) -> None:
    """And nothing is printed over the command line that is being typed."""
    place.lock.unlink()
    assert _completions(["catalog", "read", "al"], place, tmp_path) == []


def _completions(words: list[str], place: OwnInstallation, folder: Path) -> list[str]:
    """Ask a bash what TAB would offer; it must print nothing else."""
    program = folder / "skills-bundle"
    program.write_text(f'#!/bin/sh\nexec "{place.python}" -P -m skills_bundle "$@"\n', "utf-8")
    program.chmod(0o755)
    line = ["skills-bundle", *words]
    script = (
        'eval "$(skills-bundle completion bash)"\n'
        f"COMP_WORDS=({' '.join(repr(word) for word in line)})\n"
        f"COMP_CWORD={len(line) - 1}\n"
        "_skills_bundle_completion skills-bundle\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        [BASH or "bash", "--norc", "-c", script],
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == b""
    return done.stdout.decode().split()
