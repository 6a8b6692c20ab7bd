"""Build sdist and wheel twice under different circumstances, and compare every byte.

Run by `nox -s build`. Two clones of HEAD in folders of different names are built by
`python -m build` (the wheel from the sdist), the second under another umask, time zone, hash seed,
locale and file times, and once more by building the wheel straight from git. Prints one digest a
file; exits 1 on a difference.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def clone(target: Path) -> Path:
    """Clone HEAD of this checkout; what is not committed is not built."""
    subprocess.run(["git", "clone", "--quiet", f"file://{ROOT}", str(target)], check=True)
    return target


def build(
    project: Path, out: Path, *options: str, env: dict[str, str], umask: int
) -> dict[str, str]:
    """Build with pypa's front end and give the SHA-256 of every file it wrote, by file name."""
    subprocess.run(
        [sys.executable, "-m", "build", *options, "--outdir", str(out), str(project)],
        check=True,
        env={**os.environ, **env},
        umask=umask,
        stdout=subprocess.DEVNULL,
    )
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())
    }


def touch_all(project: Path) -> None:
    """Set an old time on every file of the work tree except git's own."""
    for path in project.rglob("*"):
        if ".git" not in path.relative_to(project).parts:
            os.utime(path, (86_400, 86_400))


def main() -> int:
    """Build three times and say whether the bytes are one."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        plain = build(clone(here / "one"), here / "out1", env={"TZ": "UTC"}, umask=0o022)
        odd = clone(here / "zwei ünïcode and spaces")
        touch_all(odd)
        env = {
            "TZ": "Pacific/Kiritimati",
            "PYTHONHASHSEED": "7",
            "LC_ALL": "C",
            "SOURCE_DATE_EPOCH": "1",
        }
        other = build(odd, here / "out2", env=env, umask=0o077)
        direct = build(odd, here / "out3", "--wheel", env=env, umask=0o000)
    for name, digest in plain.items():
        found = [digest, other.get(name), direct.get(name, digest)]
        print("equal    " if len(set(found)) == 1 else "DIFFERENT", digest, name)  # noqa: T201  a script's output
    equal = plain == other and direct.items() <= plain.items() and len(plain) == 2
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
