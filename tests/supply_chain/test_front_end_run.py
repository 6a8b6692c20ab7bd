"""Front ends are found, run, timed and ended; shown with small programs in their place."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.rebuild import front_end
from skills_bundle.supply_chain.rebuild.front_end import BuildFailedError, Chosen, Order

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX process groups")


@pytest.fixture
def order(tmp_path: Path) -> Order:
    """Give an order with its folders."""
    for name in ("project", "out"):
        (tmp_path / name).mkdir()
    return Order(kind="wheel", project=str(tmp_path / "project"), out=str(tmp_path / "out"))


def program(code: str) -> Chosen:
    """Give a front end that is a few lines of Python; the folder for archives is argument 5."""
    return Chosen("uv", (sys.executable, "-c", f"import os, sys, time\n{code}"))


def failed(code: str, order: Order, seconds: float = 60) -> BuildFailedError:
    """Run a front end that gives nothing."""
    with pytest.raises(BuildFailedError) as caught:
        front_end.build(program(code), order, os.environ, seconds)
    return caught.value


def codes(error: BuildFailedError) -> list[str]:
    """Give the codes of the problems."""
    return [problem.code for problem in error.problems]


def test_the_archive_that_was_made_is_given(order: Order) -> None:
    """Other files beside it do not matter."""
    chosen = program("open(sys.argv[6] + '/x.whl', 'w').close(); open(sys.argv[6] + '/y', 'w')")
    assert front_end.build(chosen, order, os.environ, 60).name == "x.whl"


def test_a_failure_has_the_end_of_its_log(order: Order) -> None:
    """Both streams, and no more than people read."""
    error = failed("print('\\n'.join(map(str, range(99))), flush=True); sys.exit('bad')", order)
    assert (codes(error), error.log[-1]) == (["build_failed"], "bad")
    assert len(error.log) == limits.REBUILD_LOG_LINES


def test_lacking_requirements_are_told_as_that(order: Order) -> None:
    """With the option that builds without fetching."""
    error = failed("sys.exit('ERROR: No matching distribution found for hatchling')", order)
    assert codes(error) == ["requirements_unavailable"]
    assert "--no-isolation" in str(error)


def test_a_build_that_takes_too_long_is_ended(order: Order) -> None:
    """The option that gives it longer is named."""
    error = failed("print('slow', flush=True); time.sleep(600)", order, seconds=1)
    assert (codes(error), error.log) == (["build_timed_out"], ("slow",))


@pytest.mark.parametrize("names", [(), ("a.whl", "b.whl")])
def test_none_or_several_archives_cannot_be_compared(order: Order, names: tuple[str, ...]) -> None:
    """It is said how many there are."""
    code = "\n".join(f"open(sys.argv[6] + '/{name}', 'w').close()" for name in names) or "pass"
    assert codes(failed(code, order)) == ["no_archive"]


def test_what_a_build_left_running_is_ended(order: Order, tmp_path: Path) -> None:
    """A process in the background would go on writing into a folder that is removed."""
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
        assert file.read() == b"x"  # ends once nobody holds the other end


def test_a_front_end_that_is_not_there_is_not_chosen(order: Order) -> None:
    """Nor one whose interpreter is not."""
    missing = Order(kind="wheel", project=order.project, out=order.out, python="/none/python")
    assert front_end.choose("build", missing, {"PATH": ""}) is None


def test_an_option_that_is_too_new_for_a_front_end_is_told_as_that(order: Order) -> None:
    """As pip 23 does, which every new virtual environment of Python 3.12 has."""
    order = replace(order, constraint="constraints.txt")
    error = failed("sys.exit('no such option: --build-constraints')", order)
    assert codes(error) == ["front_end_option"]
    assert "too old to know --build-constraints" in str(error)


def test_a_build_that_removes_its_log_is_told_without_it(order: Order) -> None:
    """A commit's code can do all that its caller can."""
    error = failed("import shutil; shutil.rmtree(sys.argv[6]); sys.exit(1)", order)
    assert (codes(error), error.log) == (["build_failed"], ())


def test_a_program_in_a_relative_folder_is_no_front_end(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be another one in the project's folder, where the build runs."""
    program = tmp_path / "bin/hatch"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert front_end.choose("hatch", order, {"PATH": f"{os.pathsep}bin"}) is None
    found = front_end.choose("hatch", order, {"PATH": str(program.parent)})
    assert found == Chosen("hatch", (str(program),))


def test_a_module_in_the_working_folder_is_no_front_end(
    order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller may stand in a folder with a `build` of its own."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build/__init__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    (tmp_path / "build/__main__.py").write_text("raise SystemExit(1)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert front_end.choose("build", order, os.environ) is not None
