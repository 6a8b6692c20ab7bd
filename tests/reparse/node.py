"""Edge: the npm package `yaml`, asked about many files at once."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE: Final = Path(__file__).parent
NAME: Final = "npm yaml"


def install(folder: Path) -> None:
    """Install what `package.json` pins, and the reader beside it.

    Raises:
        subprocess.CalledProcessError: If npm cannot.
    """
    for name in ("package.json", "read.mjs"):
        shutil.copy(HERE / name, folder / name)
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def read(folder: Path, files: Sequence[bytes]) -> list[Any]:
    """Read every file.

    Returns:
        For each the frontmatter, or the name of what was thrown, in angle brackets.
    """
    lines = "".join(f"{base64.b64encode(data).decode()}\n" for data in files)
    done = subprocess.run(
        ["node", str(folder / "read.mjs")], input=lines.encode(), capture_output=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [row["value"] if "value" in row else f"<{row['error']}>" for row in answers]
