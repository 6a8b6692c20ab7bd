"""Serves the installation below a folder: `python -P serve_installation.py FOLDER`.

What the console script does for its own installation, for one that a test laid out and may damage.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from skills_bundle.server.run import serve_stdio
from tests.installed_builder import Installation

if __name__ == "__main__":
    place = Installation(site=Path(sys.argv[1]))
    sys.exit(serve_stdio(place.catalog, identify=place.locate))
