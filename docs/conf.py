"""Sphinx configuration: Markdown pages, one theme, every warning an error (see noxfile.py)."""

from __future__ import annotations

import re
from pathlib import Path

_VERSION_FILE = Path(__file__).parent.parent / "src" / "skills_bundle" / "_version.py"
_VERSION = re.search(r'__version__ = "([^"]+)"', _VERSION_FILE.read_text(encoding="utf-8"))
if _VERSION is None:
    raise SystemExit(f"{_VERSION_FILE} names no version")

project = "skills-bundle"
author = "The skills-bundle authors"
version = release = _VERSION.group(1)

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

# Anchors down to the third level: reference pages link to single codes and fields.
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"skills-bundle {release}"
html_copy_source = False
html_show_sourcelink = False
