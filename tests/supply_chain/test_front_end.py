"""Front ends: their command and environment, and finding, running and stopping them."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.rebuild import front_end
from skills_bundle.supply_chain.rebuild.front_end import (
    FRONT_ENDS,
    BuildFailedError,
    Chosen,
    FrontEnd,
    Order,
    unknown_option,
)

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX process groups")

ORDER = Order(kind="wheel", project="/p", out="/o", isolated=False, constraint="/c")


@pytest.mark.parametrize("name", ["uv", "build", "pip"])
def test_every_option_is_passed_on(name: FrontEnd) -> None:
    """Each front end has its own spelling."""
    words = front_end.command(name, (name,), ORDER, "python9")
    assert any("isolation" in word for word in words)
    assert "/c" in words
    assert (words[-1], words[words.index("/o")]) == ("/p", "/o")


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_one_archive_of_the_kind_is_requested(kind: str) -> None:
    """A wheel is not built through an sdist that is not compared."""
    order = Order(kind="wheel" if kind == "wheel" else "sdist", project="/p", out="/o")
    asked = [front_end.command(name, (name,), order, "python9") for name in ("uv", "build")]
    assert all(f"--{kind}" in words for words in asked)


def test_options_that_hatch_does_not_support_are_listed() -> None:
    """All of them."""
    order = Order(
        kind="wheel", project="/p", out="/o", isolated=False, constraint="/c", python="python9"
    )
    named = [problem.path for problem in front_end.problems("hatch", order)]
    assert named == ["--no-isolation", "--build-constraint", "--python"]


def test_pip_does_not_build_sdists() -> None:
    """The other front ends do."""
    order = Order(kind="sdist", project="/p", out="/o")
    assert [name for name in FRONT_ENDS if front_end.problems(name, order)] == ["pip"]


@pytest.mark.parametrize(
    "name",
    [
        "SOURCE_DATE_EPOCH",
        "HATCH_BUILD_NO_HOOKS",
        "PYTHONPATH",
        "PYTHONOPTIMIZE",
        "PIP_CONSTRAINT",
        "PIP_CONFIG_SETTINGS",
        "PIP_BUILD_CONSTRAINT",
        "UV_BUILD_CONSTRAINT",
        "UV_EXCLUDE_NEWER",
        "UV_PYTHON",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "VIRTUAL_ENV",
        "SETUPTOOLS_SCM_PRETEND_VERSION",
    ],
)
def test_variables_that_change_a_build_are_removed(name: str) -> None:
    """The caller may have set them for another purpose."""
    assert name not in front_end.environment({name: "1", "PATH": "/bin"}, "/t")


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "HTTPS_PROXY",
        "SSL_CERT_FILE",
        "PIP_INDEX_URL",
        "PIP_FIND_LINKS",
        "PIP_NO_INDEX",
        "UV_INDEX_URL",
        "UV_INDEX_ACME_PASSWORD",
        "UV_FIND_LINKS",
        "UV_OFFLINE",
        "UV_CACHE_DIR",
    ],
)
def test_variables_that_select_package_sources_are_kept(name: str) -> None:
    """Otherwise no one behind a proxy could rebuild."""
    assert front_end.environment({name: "1"}, "/t")[name] == "1"


def test_temporary_files_go_into_the_removed_folder() -> None:
    """Under each name that systems use."""
    given = front_end.environment({"TMPDIR": "/elsewhere"}, "/t")
    assert {given[name] for name in ("TMPDIR", "TEMP", "TMP")} == {"/t"}


@pytest.mark.parametrize(
    ("log", "lacks"),
    [
        ("ERROR: No matching distribution found for hatchling", True),
        ("  No solution found when resolving", True),
        ("ModuleNotFoundError: No module named 'hatchling'", True),
        ("skills-bundle: A skill was refused.", False),
        ("", False),
    ],
)
def test_unavailable_requirements_are_recognized_in_a_log(log: str, *, lacks: bool) -> None:
    """As each front end reports them."""
    assert front_end.lacks_requirements(log) is lacks


@pytest.mark.parametrize(
    ("log", "option"),
    [
        ("no such option: --build-constraint", "--build-constraint"),
        (
            "python -m build: error: unrecognized arguments: --build-constraint c",
            "--build-constraint",
        ),
        ("error: unexpected argument '--build-constraint' found", "--build-constraint"),
        ("no such option: --other", None),
        ("all is well", None),
    ],
)
def test_an_unknown_option_is_recognized_in_a_log(log: str, option: str | None) -> None:
    """Only options of the command; a build script may report others."""
    assert unknown_option(log, ("pip", "wheel", "--build-constraint", "c.txt")) == option


@pytest.fixture
def order(tmp_path: Path) -> Order:
    """Return an order with its folders."""
    for name in ("project", "out"):
        (tmp_path / name).mkdir()
    return Order(kind="wheel", project=str(tmp_path / "project"), out=str(tmp_path / "out"))


def program(code: str) -> Chosen:
    """Return a front end of a few lines of Python; the folder for archives is argument 6."""
    return Chosen("uv", (sys.executable, "-c", f"import os, sys, time\n{code}"))


def failed(code: str, order: Order, seconds: float = 60) -> BuildFailedError:
    """Run a front end that builds nothing."""
    with pytest.raises(BuildFailedError) as caught:
        front_end.build(program(code), order, os.environ, seconds)
    return caught.value


def codes(error: BuildFailedError) -> list[str]:
    """Return the codes of the problems."""
    return [problem.code for problem in error.problems]


@posix
def test_the_built_archive_is_returned(order: Order) -> None:
    """Other files are ignored."""
    chosen = program("open(sys.argv[6] + '/x.whl', 'w').close(); open(sys.argv[6] + '/y', 'w')")
    assert front_end.build(chosen, order, os.environ, 60).name == "x.whl"


@posix
def test_a_failure_has_the_end_of_its_log(order: Order) -> None:
    """Both streams, limited to some lines."""
    error = failed("print('\\n'.join(map(str, range(99))), flush=True); sys.exit('bad')", order)
    assert (codes(error), error.log[-1]) == (["build_failed"], "bad")
    assert len(error.log) == limits.REBUILD_LOG_LINES


@posix
def test_unavailable_requirements_are_reported_as_such(order: Order) -> None:
    """The message names the option that builds without a download."""
    error = failed("sys.exit('ERROR: No matching distribution found for hatchling')", order)
    assert codes(error) == ["requirements_unavailable"]
    assert "--no-isolation" in str(error)


@posix
def test_the_cause_is_shown_instead_of_the_frames_of_a_traceback(order: Order) -> None:
    """A front end that crashes after its installer failed prints a long traceback last."""
    script = (
        "print('ERROR: No matching distribution found for hatchling', flush=True)\n"
        "def crash(depth):\n"
        "    crash(depth - 1) if depth else 1 / 0\n"
        "crash(40)"
    )
    error = failed(script, order)
    assert "No matching distribution found for hatchling" in str(error)
    assert error.log[-2:] == (
        "ERROR: No matching distribution found for hatchling",
        "ZeroDivisionError: division by zero",
    )


@posix
def test_a_build_over_the_time_limit_is_stopped(order: Order) -> None:
    """The log is kept."""
    error = failed("print('slow', flush=True); time.sleep(600)", order, seconds=1)
    assert (codes(error), error.log) == (["build_timed_out"], ("slow",))


@posix
@pytest.mark.parametrize("names", [(), ("a.whl", "b.whl")])
def test_no_archive_or_several_are_an_error(order: Order, names: tuple[str, ...]) -> None:
    """The message has their number."""
    code = "\n".join(f"open(sys.argv[6] + '/{name}', 'w').close()" for name in names) or "pass"
    assert codes(failed(code, order)) == ["no_archive"]


@posix
def test_processes_that_a_build_left_running_are_stopped(order: Order, tmp_path: Path) -> None:
    """A background process would keep writing into a removed folder."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code = (
        f"writer = os.open({str(pipe)!r}, os.O_WRONLY)\n"
        "if os.fork() == 0:\n    time.sleep(600)\n"
        "os.write(writer, b'x')\n"
        "sys.exit('done')"
    )
    failed(code, order)
    os.set_blocking(reader, True)
    with os.fdopen(reader, "rb") as file:
        assert file.read() == b"x"  # ends once no process has the other end open


@posix
def test_a_front_end_that_is_not_installed_is_not_chosen(order: Order) -> None:
    """Here its interpreter is missing."""
    missing = Order(kind="wheel", project=order.project, out=order.out, python="/none/python")
    assert front_end.choose("build", missing, {"PATH": ""}) is None


@posix
def test_a_front_end_that_is_too_old_for_an_option_is_reported(order: Order) -> None:
    """For example pip 23, which new virtual environments of Python 3.12 have."""
    order = replace(order, constraint="constraints.txt")
    error = failed("sys.exit('no such option: --build-constraints')", order)
    assert codes(error) == ["front_end_option"]
    assert "too old to know --build-constraints" in str(error)


@posix
def test_a_build_may_remove_its_log(order: Order) -> None:
    """The commit's code runs with the caller's permissions."""
    error = failed("import shutil; shutil.rmtree(sys.argv[6]); sys.exit(1)", order)
    assert (codes(error), error.log) == (["build_failed"], ())


@posix
def test_a_program_in_a_relative_folder_is_not_used(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another program in the project's folder, where the build runs."""
    program = tmp_path / "bin/hatch"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert front_end.choose("hatch", order, {"PATH": f"{os.pathsep}bin"}) is None
    found = front_end.choose("hatch", order, {"PATH": str(program.parent)})
    assert found == Chosen("hatch", (str(program),))


@posix
def test_a_module_in_the_current_folder_is_not_used(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder may have a package `build`."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build/__init__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    (tmp_path / "build/__main__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert front_end.choose("build", order, os.environ) is not None
