"""Fuzzes the targets one after another and keeps what they found worth keeping.

`python -m tests.fuzz [--seconds N] [--keep] [TARGET...]`

Each target starts from its seeds and its kept corpus. With `--keep`, the corpus is then minimised:
the smallest set of inputs that reaches as much code replaces `tests/fuzz/corpus/TARGET`. Prints one
row a target; exits 1 if an input broke a law, which then lies beside the corpus.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

FOLDER = Path(__file__).parent
KEPT = FOLDER / "corpus"
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in FOLDER.glob("fuzz_*.py"))
MAX_INPUT_BYTES = 1 << 12
ROW = "{:<12} {:>12} {:>10} {:>10} {:>8} {:>8} {:>8}"


def target(name: str) -> Any:
    """Return a target's module."""
    return importlib.import_module(f"tests.fuzz.fuzz_{name}")


def be_fuzzed(name: str, flags: list[str]) -> None:
    """Run one target under libFuzzer; never returns."""
    import atheris as _atheris  # noqa: PLC0415 - only the process that fuzzes needs it

    atheris = cast("Any", _atheris)  # carries no types
    with atheris.instrument_imports(include=["skills_bundle"]):
        check = target(name).check
    # libFuzzer starts itself again to merge, with its first argument as the command.
    atheris.Setup([f"{sys.executable} -m tests.fuzz --as {name} --", *flags], check)
    atheris.Fuzz()


def run(name: str, flags: list[str], temporary: Path) -> tuple[int, str]:
    """Run a target in a process of its own; give its exit status and what it reported."""
    command = [sys.executable, "-m", "tests.fuzz", "--as", name, "--", *flags]
    with (temporary / "log").open("w+", encoding="utf-8", errors="replace") as log:
        status = subprocess.run(
            command,
            stdout=log,
            stderr=log,
            check=False,
            cwd=FOLDER.parents[1],
            env={**os.environ, "TMPDIR": str(temporary)},
        ).returncode
        log.seek(0)
        return status, log.read()


def fuzz(name: str, seconds: int, *, keep: bool) -> bool:
    """Fuzz one target, print its row, and tell whether every law held."""
    with tempfile.TemporaryDirectory() as folder:
        temporary, corpus = Path(folder), Path(folder, "corpus")
        corpus.mkdir()
        for number, seed in enumerate(target(name).seeds()):
            (corpus / f"seed-{number}").write_bytes(seed)
        (KEPT / name).mkdir(parents=True, exist_ok=True)
        artifact = f"-artifact_prefix={KEPT}/broken-{name}-"
        flags = [f"-max_len={MAX_INPUT_BYTES}", artifact, "-timeout=20", "-print_final_stats=1"]
        limit = f"-max_total_time={seconds}"
        status, report = run(name, [*flags, limit, str(corpus), str(KEPT / name)], temporary)
        if keep and status == 0:
            minimise(name, corpus, temporary)
        print_row(name, report)
        if status:
            sys.stderr.write(report[-4000:])
        return status == 0


def minimise(name: str, corpus: Path, temporary: Path) -> None:
    """Replace the kept corpus with the smallest set of inputs that reaches the same branches."""
    least = temporary / "least"
    least.mkdir()
    # Without counters: an input earns its place by a new branch, not by a new number of loops.
    flags = [
        "-merge=1",
        "-use_counters=0",
        f"-max_len={MAX_INPUT_BYTES}",
        str(least),
        str(corpus),
        str(KEPT / name),
    ]
    status, report = run(name, flags, temporary)
    if status:
        sys.stderr.write(report[-4000:])
        return
    shutil.rmtree(KEPT / name)
    shutil.copytree(least, KEPT / name)


def print_row(name: str, report: str) -> None:
    """Print what libFuzzer counted, and the size of the kept corpus."""
    counted = dict(re.findall(r"^stat::(\w+): +(\d+)$", report, re.MULTILINE))
    reached = re.findall(r"cov: (\d+) ft: (\d+)", report) or [("-", "-")]
    kept = [path.stat().st_size for path in (KEPT / name).iterdir()]
    executed = f"{int(counted.get('number_of_executed_units', 0)):,}"
    a_second = counted.get("average_exec_per_sec", "-")
    size = f"{sum(kept) / 1024:.0f} KiB"
    sys.stdout.write(ROW.format(name, executed, a_second, *reached[-1], len(kept), size) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Fuzz, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--keep", action="store_true", help="minimise and keep the corpus")
    options = parser.parse_args(arguments)
    head = ("target", "inputs", "a second", "branches", "features", "kept", "size")
    sys.stdout.write(ROW.format(*head) + "\n")
    names = options.targets or TARGETS
    held = [fuzz(name, options.seconds, keep=options.keep) for name in names]
    return 0 if all(held) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as"]:
        be_fuzzed(sys.argv[2], sys.argv[4:])
    sys.exit(main(sys.argv[1:]))
