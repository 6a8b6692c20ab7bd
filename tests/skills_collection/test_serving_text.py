"""Tests that the module shown in publishing-skills-as-a-wheel serves, as it is printed there."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.installed_builder import InstalledBuilder
from tests.skills_collection.collection import SCRIPT_SECONDS, SKILLS, fences

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"test","version":"0"}}}\n'
)


def test_the_printed_module_answers_a_client(tmp_path: Path) -> None:
    """Copied into a package, it starts, greets, and ends with its input."""
    page = SKILLS / "publishing-skills-as-a-wheel" / "references" / "serving.md"
    made = InstalledBuilder(name="acme-skills", collection="acme-skills").install(tmp_path)
    (made.folder / "__main__.py").write_text(next(fences(page, "python")), encoding="utf-8")
    (made.dist_info / "entry_points.txt").write_text(
        f"[skills_bundle.collections]\nacme-skills = {made.folder.name}\n", encoding="utf-8"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-P", "-m", made.folder.name, "mcp", "serve"],
        input=REQUEST,
        capture_output=True,
        check=False,
        timeout=SCRIPT_SECONDS,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert (done.returncode, b'"protocolVersion":"2025-11-25"' in done.stdout) == (0, True)
