"""Commands that start servers as processes, for tests that need one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_FOLDER = Path(__file__).parent

ODD = [sys.executable, "-P", str(_FOLDER / "odd_server.py")]
"""The server whose tools misbehave."""

INSTALLED = [sys.executable, "-P", str(_FOLDER / "serve_installation.py")]
"""The server of an installation; its folder is the next argument."""

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""What a test runner sets for itself would hide what a host's environment does."""
