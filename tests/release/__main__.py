"""Build a release from its tag in two environments that share nothing, compare, and verify it.

`python -m tests.release FOLDER`, from the root of a checkout; `nox -s release` runs it. FOLDER gets
the archives, `SHA256SUMS` and the provenance statements. Exits 1 at the first thing that is not as
a release has to be. Nothing is uploaded, and nothing is signed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = "build-constraints.txt"
KEPT = {
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "NO_PROXY",
    "PATH",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
}
"""What a build sees of our environment: where programs and packages come from."""

REBUILD = ("--front-end", "pip", "--build-constraint")


class NotAsItShouldBeError(Exception):
    """What keeps this from being a release."""


def run(*command: str | Path, cwd: Path = ROOT, umask: int = 0o022, **more: str) -> str:
    """Run a command with little of our environment, and give what it printed.

    Raises:
        NotAsItShouldBeError: If it fails; with what it said.
    """
    environment = {name: text for name, text in os.environ.items() if name.upper() in KEPT} | more
    ran = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        umask=umask,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if ran.returncode:
        words = " ".join(map(str, command))
        raise NotAsItShouldBeError(f"{words}\nexited {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def say(line: str) -> None:
    """Print progress."""
    print(line, flush=True)  # noqa: T201 - a script's output


def checkout(revision: str, folder: Path) -> Path:
    """Clone this repository at a revision."""
    run("git", "clone", "--quiet", "--no-local", ROOT, folder)
    run("git", "checkout", "--quiet", "--detach", revision, cwd=folder)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of the two archives in a folder, by file name."""
    files = sorted([*folder.glob("*.tar.gz"), *folder.glob("*.whl")])
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def first(project: Path, out: Path) -> None:
    """Build as the release is built: by uv, every tool with a known digest."""
    uv = find_uv_bin()
    run(uv, "build", "--quiet", "--build-constraints", CONSTRAINTS, "--require-hashes",
        "--out-dir", out, ".", cwd=project)  # fmt: skip


def second(project: Path, out: Path, room: Path, python: str) -> None:
    """Build in an environment of another maker, and in other circumstances."""
    run(python, "-m", "venv", room)
    pip = (room / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--upgrade", "pip>=25.3", "build>=1.4")
    hashed = ("--build-constraint", CONSTRAINTS)
    odd = {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    run(*pip, "wheel", "--quiet", "--no-deps", *hashed, "--wheel-dir", out, ".",
        cwd=project, umask=0o077, **odd)  # fmt: skip
    hashed = ("--dependency-constraints-txt", CONSTRAINTS)
    run(room / "bin" / "python", "-m", "build", "--sdist", *hashed, "--outdir", out, ".",
        cwd=project, umask=0o077, **odd)  # fmt: skip


def verify(dist: Path, project: Path, room: Path) -> None:
    """Install the wheel where nothing else is, and have it verify both archives."""
    run(sys.executable, "-m", "venv", room)
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    pip = (room / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install")
    run(*pip, "--quiet", "--upgrade", "pip>=25.3", wheel)
    ours = room / "bin" / "skills-bundle"
    for words in (
        ("verify",),
        ("verify-wheel", wheel),
        ("verify-sdist", sdist),
        ("verify-source", wheel, "--repo", project),
        ("verify-source", sdist, "--repo", project),
        ("rebuild", wheel, "--repo", project, *REBUILD, project / CONSTRAINTS),
        ("statement", wheel),
        ("statement", sdist),
        ("verify-statement", f"{wheel}.provenance.json", wheel),
        ("verify-statement", f"{sdist}.provenance.json", sdist),
        ("mcp", "check"),
    ):
        run(ours, *words, cwd=room)
        say(f"passed   skills-bundle {' '.join(Path(word).name for word in words)}")


def tag_of(project: Path) -> str:
    """Return the tag that the version of a checkout is released under."""
    version = runpy.run_path(str(project / "src/skills_bundle/_version.py"))["__version__"]
    return f"v{version}"


def release(dist: Path, revision: str | None, python: str) -> None:
    """Do all of it.

    Raises:
        NotAsItShouldBeError: If two builds differ, a check fails, or there is no such tag.
    """
    with tempfile.TemporaryDirectory() as folder:
        rooms = Path(folder)
        one = checkout(revision or tag_of(ROOT), rooms / "one")
        first(one, dist)
        two = checkout(revision or tag_of(ROOT), rooms / "zwei ünïcode and spaces")
        second(two, rooms / "out", rooms / "builder", python)
        ours, theirs = digests(dist), digests(rooms / "out")
        if ours != theirs or len(ours) != 2:
            raise NotAsItShouldBeError(f"The two builds differ:\n{ours}\n{theirs}")
        for name, digest in ours.items():
            say(f"equal    {digest}  {name}")
        verify(dist, one, rooms / "verifier")
    sums = "".join(f"{digest}  {name}\n" for name, digest in ours.items())
    (dist / "SHA256SUMS").write_text(sums, encoding="utf-8")


def main() -> int:
    """Read the command line, and give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="an empty folder, or one to be made")
    parser.add_argument("--rev", help="a commit to practise with; by default the version's tag")
    parser.add_argument("--python", default=sys.executable, help="Python of the second build")
    asked = parser.parse_args()
    dist = asked.folder.absolute()
    if dist.exists() and any(dist.iterdir()):
        parser.error(f"{dist} is not empty; a release is made of what this run builds, only")
    try:
        release(dist, asked.rev, asked.python)
    except NotAsItShouldBeError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
