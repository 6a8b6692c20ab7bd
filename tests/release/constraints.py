"""Write `build-constraints.txt`: what builds us, pinned, with the digests of its files.

Run by `nox -s constraints`, on purpose and by hand: another hatchling is another wheel. What is
pinned follows from `[build-system]`, what our hook asks for in a checkout, and what those need.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from skills_bundle.hatch_plugin.build_hook import PYGIT2

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "build-constraints.txt"
HEAD = """\
# Every package that takes part in a build of this project, with the digests of its files.
# Written by `nox -s constraints`; docs/how-to/release.md says how front ends use it.
"""


def requirements() -> list[str]:
    """Return what a build of a checkout asks its front end for."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return [*tomllib.load(file)["build-system"]["requires"], PYGIT2]


def main() -> int:
    """Resolve for every supported Python and system, and replace the file."""
    command = ["uv", "pip", "compile", "--universal", "--generate-hashes", "--no-header"]
    command += ["--no-annotate", "--upgrade", "--quiet", "--python-version", "3.11", "-"]
    resolved = subprocess.run(
        command,
        input="\n".join(requirements()),
        encoding="utf-8",
        stdout=subprocess.PIPE,
        check=True,
    )
    FILE.write_text(HEAD + resolved.stdout, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
