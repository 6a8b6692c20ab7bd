"""Edge: build two projects under every circumstance and print what came out.

`python -m tests.reproducible`, from the root of the repository. Exits 1 if a row is not as
expected, above all if a receipt names a commit whose bytes an archive does not have.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle import __version__
from tests.reproducible import (
    changes,
    conversions,
    dirt,
    disks,
    front_ends,
    repositories,
    rows,
    subjects,
    surroundings,
    tools,
)
from tests.reproducible.room import FailedError, Room, git
from tests.reproducible.rows import NotRunError, Row, Variation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.reproducible.subjects import Subject

RESULTS: Final = Path(__file__).parent / "results.json"
FACTS: Final = {
    "version": __version__,
    "hatchling": tools.HATCHLING,
    "python": platform.python_version(),
    "system": f"{platform.system()} {platform.machine()}",
}
"""What stands above the rows: of what and where."""


def every_variation(pythons: Sequence[str]) -> list[Variation]:
    """Return all of them, in the order of the table."""
    return [
        *surroundings.variations(),
        *disks.variations(),
        *repositories.variations(),
        *front_ends.variations(),
        *tools.variations(pythons),
        *dirt.variations(),
        *changes.variations(),
        *conversions.variations(),
    ]


def tried(subject: Subject, variation: Variation, shared: Path) -> Row:
    """Run one variation in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=shared, ignore_cleanup_errors=True) as folder:
        room = Room(subject, Path(folder), shared)
        refusal = ""
        try:
            variation.build(room)
        except NotRunError as error:
            return rows.not_run(subject.name, variation, str(error))
        except FailedError as error:
            refusal = str(error) or "nothing was said"
        except Exception as error:  # noqa: BLE001 - one variation must not end the others
            refusal = f"{type(error).__name__}: {error} {getattr(error, 'stderr', '')}"
        row = rows.judge(subject.name, variation, room.seen(), refusal)
    mark = {"as expected": ".", "not run": "-"}.get(row.result, "x")
    print(mark, end="", file=sys.stderr, flush=True)  # noqa: T201
    return row


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--record", action="store_true", help="write results.json, if all is well")
    parser.add_argument("--only", default="", help="variations whose group or name holds this")
    parser.add_argument("--project", default="", help="skills-bundle or foreign; default both")
    parser.add_argument("--python", action="append", default=[], help="one more interpreter")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="builds at a time")
    parser.add_argument("--folder", type=Path, help="where to keep environments between runs")
    return parser.parse_args()


def run(options: argparse.Namespace, shared: Path) -> list[Row]:
    """Make the projects and try everything."""
    shared /= git(subjects.ROOT, "rev-parse", "HEAD").strip()
    shared.mkdir(exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=shared))
    own = subjects.ours(work / "ours", shared)
    (shared / "wheels").mkdir(exist_ok=True)
    wheel = own.reference(None, own.origin)["wheel"]
    (name,) = (path.name for path in (own.work / own.commit / "out").glob("*.whl"))
    (shared / "wheels" / name).write_bytes(wheel)
    tools.plain(Room(own, work, shared))
    other = subjects.foreign(work / "foreign", shared)
    wanted = [
        partial(tried, subject, variation, shared)
        for variation in every_variation(options.python)
        for subject in (own, other)
        if options.only in f"{variation.group} {variation.name}" and options.project in subject.name
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        return [future.result() for future in [pool.submit(each) for each in wanted]]


def written(found: Sequence[Row], *, as_json: bool) -> str:
    """Return what is printed."""
    return rows.dump(found, **FACTS) if as_json else f"{rows.table(found)}\n"


def main() -> int:
    """Do it all and give the exit code."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="reproducible-", ignore_cleanup_errors=True) as folder:
        shared = options.folder or Path(folder)
        shared.mkdir(parents=True, exist_ok=True)
        found = run(options, shared.resolve())
    print(file=sys.stderr)  # noqa: T201 - ends the line of dots
    sys.stdout.write(written(found, as_json=options.json))
    if any(row.result == "UNEXPECTED" for row in found):
        return 1
    if options.record:
        RESULTS.write_text(rows.dump(found, **FACTS), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
