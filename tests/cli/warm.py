"""The other end of `WarmProcess`: a line of arguments in, a line of answer out."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tests.cli.runner import call

if __name__ == "__main__":
    answers = sys.stdout
    for line in sys.stdin:
        answers.write(json.dumps(asdict(call(*json.loads(line)))) + "\n")
        answers.flush()
