"""`rebuild` for real: our own archives and a foreign project's, without an index."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from uv import find_uv_bin

from tests.cli.runner import PROGRAM, Ran, spawn
from tests.end_to_end.conftest import once, run
from tests.end_to_end.test_build_foreign import REGISTERED, built, foreign, offline
from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.end_to_end.conftest import Dists

HOOK = """\
import os
import time
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        if "ACME_FAILS" in os.environ:
            raise SystemExit("Acme does not want to.")
        if "ACME_WAITS" in os.environ:
            Path(os.environ["ACME_WAITS"]).write_text("waits", encoding="utf-8")
            time.sleep(600)
"""
"""A build script of the project's own that can be made to fail or to wait."""


@pytest.fixture(scope="session")
def acme(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the repository of a foreign project, and a wheel of its commit."""

    def make(folder: Path) -> None:
        sample = foreign(folder / "repository")
        table = "[tool.hatch.build.hooks.custom]\n\n[tool.hatch.build.hooks.skills-bundle]"
        old = "[tool.hatch.build.hooks.skills-bundle]"
        sample.write("pyproject.toml", REGISTERED.replace(old, table).encode())
        sample.write("hatch_build.py", HOOK.encode()).committed()
        built(sample.folder, wheelhouse, folder / "dist")

    return once(tmp_path_factory, "acme", make)


@pytest.fixture
def wheel(acme: Path, tmp_path: Path) -> Path:
    """Return a copy of the wheel, to be changed."""
    (found,) = (acme / "dist").glob("*.whl")
    return Path(shutil.copy(found, tmp_path / found.name))


def rebuilt(archive: Path, repository: Path, wheelhouse: Path, *more: str) -> Ran:
    """Run the command with no index but one folder of wheels."""
    given = ("rebuild", str(archive), "--repo", str(repository), "--json", *more)
    ran = subprocess.run(
        [*PROGRAM, *given], env=offline(wheelhouse), capture_output=True, check=False
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def verdict(ran: Ran) -> tuple[int, str, list[str]]:
    """Return exit code, verdict and the codes of the causes."""
    assert ran.stdout, ran.stderr
    return ran.code, ran.json["verdict"], [cause["code"] for cause in ran.json["causes"]]


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_our_own_archives_are_rebuilt_bit_for_bit(
    clone: Path, dists: Dists, wheelhouse: Path, kind: str
) -> None:
    """The wheel was made from the sdist; the commit alone gives the same one."""
    archive = dists.wheel if kind == "wheel" else dists.sdist
    ran = rebuilt(archive, clone, wheelhouse, "--front-end", "uv")
    assert verdict(ran) == (0, "identical", [])


def test_a_foreign_wheel_is_rebuilt_bit_for_bit(
    acme: Path, wheel: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """And kept where that is asked for."""
    ran = rebuilt(wheel, acme / "repository", wheelhouse, "--keep", str(tmp_path / "kept"))
    assert verdict(ran) == (0, "identical", [])
    assert (tmp_path / "kept" / wheel.name).read_bytes() == wheel.read_bytes()


def test_a_wheel_by_another_name_is_not_the_commits(
    acme: Path, wheel: Path, wheelhouse: Path
) -> None:
    """Installers go by the name, whatever the bytes."""
    other = wheel.rename(wheel.with_name("other-2.0-py3-none-any.whl"))
    found = verdict(rebuilt(other, acme / "repository", wheelhouse))
    assert found == (1, "same_content_different_archive", ["file_name"])


def test_a_project_in_a_folder_of_a_repository_is_rebuilt(wheelhouse: Path, tmp_path: Path) -> None:
    """The lock in the wheel says which."""
    sample = foreign(tmp_path / "mono/libs/acme", repository=tmp_path / "mono").committed()
    archive = built(sample.folder, wheelhouse, tmp_path / "dist")
    ran = rebuilt(archive, tmp_path / "mono", wheelhouse)
    assert verdict(ran) == (0, "identical", [])
    assert ran.json["project"] == "libs/acme"


def test_without_isolation_what_is_installed_builds(
    acme: Path, wheel: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """Nothing is looked for in any index."""
    python = tmp_path / "environment/bin/python"
    run(find_uv_bin(), "venv", "--quiet", "--python", sys.executable, tmp_path / "environment")
    local = ("--quiet", "--offline", "--no-index", "--find-links", wheelhouse)
    wanted = ("skills-bundle", "hatchling")
    run(find_uv_bin(), "pip", "install", *local, "--python", python, *wanted)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    more = ("--no-isolation", "--python", str(python))
    assert verdict(rebuilt(wheel, acme / "repository", nothing, *more)) == (0, "identical", [])


def test_a_wheel_that_was_packed_again_has_the_same_content(
    acme: Path, wheel: Path, wheelhouse: Path
) -> None:
    """It is not the archive that the commit gives, so the exit code is 1."""
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, data in members:
            archive.writestr(info, data, compress_type=zipfile.ZIP_DEFLATED)
    code, found, causes = verdict(rebuilt(wheel, acme / "repository", wheelhouse))
    assert (code, found) == (1, "same_content_different_archive")
    assert causes


@pytest.mark.parametrize("change", ["a byte", "a file"])
def test_other_content_is_named(acme: Path, wheel: Path, wheelhouse: Path, change: str) -> None:
    """By file; with the digests of both."""
    with zipfile.ZipFile(wheel) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, (info, data) in members.items():
            other = change == "a byte" and name == "acme_skills/run.sh"
            archive.writestr(info, data[:-2] + b"!\n" if other else data)
        if change == "a file":
            archive.writestr("acme_skills/more.py", b"")
    ran = rebuilt(wheel, acme / "repository", wheelhouse)
    code = {"a byte": "files", "a file": "only_given"}[change]
    assert verdict(ran) == (1, "different_content", [code])
    path = {"a byte": "acme_skills/run.sh", "a file": "acme_skills/more.py"}[change]
    assert [row["path"] for row in ran.json["diff"]["members"]] == [path]


def test_a_build_that_fails_shows_the_end_of_its_log(
    acme: Path, wheel: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the project's own words."""
    monkeypatch.setenv("ACME_FAILS", "1")
    ran = rebuilt(wheel, acme / "repository", wheelhouse)
    assert verdict(ran) == (3, "not_rebuildable", ["build_failed"])
    assert any("Acme does not want to." in line for line in ran.json["log"])


@pytest.mark.parametrize("front_end", ["uv", "build", "pip"])
def test_requirements_that_cannot_be_had_are_told_as_that(
    acme: Path, wheel: Path, tmp_path: Path, front_end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the option that needs none."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    more = ("--front-end", front_end)
    ran = rebuilt(wheel, acme / "repository", nothing, *more)
    assert verdict(ran) == (3, "not_rebuildable", ["requirements_unavailable"])
    assert "--no-isolation" in ran.json["causes"][0]["message"]


def test_constraints_reach_the_build(
    acme: Path, wheel: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """A version that there is not cannot be had."""
    (tmp_path / "constraints.txt").write_text("hatchling==0.1\n", encoding="utf-8")
    more = ("--build-constraint", str(tmp_path / "constraints.txt"))
    ran = rebuilt(wheel, acme / "repository", wheelhouse, *more)
    assert verdict(ran) == (3, "not_rebuildable", ["requirements_unavailable"])


def test_variables_that_change_builds_have_no_say(
    acme: Path, wheel: Path, wheelhouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller's environment is not the build's."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setenv("UV_BUILD_CONSTRAINT", "/nowhere")
    ran = rebuilt(wheel, acme / "repository", wheelhouse)
    assert verdict(ran) == (0, "identical", [])


@pytest.fixture
def interruptible() -> Generator[None]:
    """A shell has what it starts in the background ignore SIGINT, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_rebuild_that_is_stopped_leaves_nothing(
    acme: Path, wheel: Path, wheelhouse: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Neither folder nor file."""
    room, pipe = tmp_path / "room", tmp_path / "pipe"
    room.mkdir()
    os.mkfifo(pipe)
    environ = {**offline(wheelhouse), "ACME_WAITS": str(pipe), "TMPDIR": str(room)}
    command = [*PROGRAM, "rebuild", str(wheel), "--repo", str(acme / "repository")]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert pipe.read_text(encoding="utf-8") == "waits"  # the build is under way
        process.send_signal(number)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()  # else a process that nothing stops would hold up the tests
    assert process.returncode == 128 + number
    assert [*room.iterdir()] == []


def test_the_report_says_that_code_was_run(acme: Path, wheel: Path, wheelhouse: Path) -> None:
    """It follows the verdict."""
    environ = {name: value for name, value in offline(wheelhouse).items() if name[:3] == "UV_"}
    ran = spawn("rebuild", str(wheel), "--repo", str(acme / "repository"), environ=environ)
    assert (ran.code, ran.stderr) == (0, "")
    text = " ".join(ran.stdout.split())
    assert "identical: the commit builds this archive, bit for bit" in text
    assert "which ran the commit's code" in text


def test_a_dirty_archive_of_the_project_is_not_rebuilt(
    acme: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    """Its receipt names no commit, so nothing is cloned or run."""
    folder = shutil.copytree(acme / "repository", tmp_path / "edited", symlinks=True)
    sample = SampleProject(folder).write("notes.txt", b"draft\n")
    archive = built(sample.folder, wheelhouse, tmp_path / "dist")
    ran = rebuilt(archive, acme / "repository", wheelhouse)
    assert verdict(ran) == (3, "not_rebuildable", ["no_source_commit"])
    assert ran.json["front_end"] is None
