"""Completion scripts: printed, and really completing in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.runner import call

if TYPE_CHECKING:
    from pathlib import Path

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
        (["ver"], ["verify"]),
        (["mcp", ""], ["serve", "check"]),
        (["catalog", "se"], ["search"]),
        (["lock", "--str"], ["--strict"]),
        (["completion", "z"], ["zsh"]),
    ],
    ids=" ".join,
)
def test_bash_completes(words: list[str], completed: list[str], tmp_path: Path) -> None:
    """A real bash that sourced the script offers the right words."""
    program = tmp_path / "skills-bundle"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m skills_bundle "$@"\n', "utf-8")
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
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.decode().split() == completed
