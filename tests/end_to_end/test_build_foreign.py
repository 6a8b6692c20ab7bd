"""Somebody else's project uses the registered hook, with the wheel of ours that they would get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from skills_bundle.bundle import lock, receipt
from tests.hatch_plugin.sample import FILES, PYPROJECT, SKILL_MD, SampleProject, git

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REGISTERED = PYPROJECT.replace('["hatchling"]', '["hatchling", "skills-bundle"]').replace(
    "hooks.custom", "hooks.skills-bundle"
)


def offline(wheelhouse: Path) -> dict[str, str]:
    """Return variables under which front ends know one folder of wheels and no index."""
    return {
        **os.environ,
        "UV_NO_CONFIG": "1",
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(wheelhouse),
    }


def built(project: Path, wheelhouse: Path, out: Path) -> Path:
    """Build a wheel through an sdist, in isolation and without a network."""
    command = [find_uv_bin(), "build", "--quiet", "--out-dir", str(out), str(project)]
    ran = subprocess.run(
        command, env=offline(wheelhouse), capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stderr
    (wheel,) = out.glob("*.whl")
    return wheel


def foreign(folder: Path, *, repository: Path | None = None) -> SampleProject:
    """Return a project that names our hook in its table and ships no build script."""
    sample = SampleProject.create(folder, repository=repository)
    (folder / "hatch_build.py").unlink()
    return sample.write("pyproject.toml", REGISTERED.encode()).locked()


def src_layout(folder: Path) -> SampleProject:
    """Have the package below `src`."""
    return foreign(folder / "acme")


def flat_layout(folder: Path) -> SampleProject:
    """Have the package at the top, found by its name."""
    sample = foreign(folder / "acme")
    (sample.folder / "src/acme_skills").rename(sample.folder / "acme_skills")
    return sample.replace("pyproject.toml", 'packages = ["src/acme_skills"]\n', "")


def monorepo_layout(folder: Path) -> SampleProject:
    """Be one of several projects in a repository."""
    return foreign(folder / "libs/acme", repository=folder)


@pytest.mark.parametrize("layout", [src_layout, flat_layout, monorepo_layout])
def test_a_foreign_project_ships_its_skills_with_the_hook(
    wheelhouse: Path, tmp_path: Path, layout: Callable[[Path], SampleProject]
) -> None:
    """Lock, skills and a receipt that names its commit; the lock is the committed one."""
    sample = layout(tmp_path / "repository").committed()
    wheel = built(sample.folder, wheelhouse, tmp_path / "out")
    with zipfile.ZipFile(wheel) as archive:
        committed = (sample.folder / "catalog.lock.json").read_bytes()
        assert archive.read("acme_skills/.agents/catalog.lock.json") == committed
        found = receipt.parse(archive.read("acme_skills/.agents/build-receipt.json"))
        shipped = {f"acme_skills/.agents/skills/{path}" for path in lock.parse(committed).files()}
        assert shipped <= set(archive.namelist())
    assert found.source.commit == sample.commit_id()
    assert git(sample.folder, "status", "--porcelain") == ""


def test_a_foreign_collection_is_verified_read_and_served_beside_ours(
    wheelhouse: Path, tmp_path: Path
) -> None:
    """Installed without a network, its wheel answers to `--collection` from any folder."""
    sample = src_layout(tmp_path / "repository").committed()
    wheel = built(sample.folder, wheelhouse, tmp_path / "out")
    environment, elsewhere = tmp_path / "environment", tmp_path / "elsewhere"
    elsewhere.mkdir()

    def run(*command: str | Path) -> str:
        ran = subprocess.run(
            command,
            cwd=elsewhere,
            env=offline(wheelhouse),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    run(find_uv_bin(), "venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    run(find_uv_bin(), "pip", "install", "--quiet", "--python", python, "skills-bundle", wheel)
    program, option = environment / "bin" / "skills-bundle", ("--collection", "acme-skills")
    assert "acme-skills 1.0: every file" in run(program, "verify", *option)
    assert run(program, "catalog", "read", "greet", *option).encode() == SKILL_MD
    assert json.loads(run(program, "mcp", "check", *option, "--json"))["ok"] is True
    rows = json.loads(run(program, "catalog", "collections", "--json"))["collections"]
    assert [row["integrity"] for row in rows] == ["verified", "verified"]


def test_a_foreign_projects_stale_lock_ends_its_build(wheelhouse: Path, tmp_path: Path) -> None:
    """With the words that our own project gets."""
    sample = src_layout(tmp_path / "repository").committed()
    sample.write("skills/greet/SKILL.md", FILES["skills/greet/SKILL.md"] + b"More.\n")
    ran = subprocess.run(
        [find_uv_bin(), "build", "--out-dir", str(tmp_path / "out"), str(sample.folder)],
        env=offline(wheelhouse),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode != 0
    assert "skills/greet/SKILL.md: content differs from the lock" in ran.stderr
    assert "Traceback" not in ran.stderr
