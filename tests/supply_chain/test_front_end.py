"""How front ends are asked, and what of the caller's environment a build gets."""

from __future__ import annotations

import pytest

from skills_bundle.supply_chain.rebuild import front_end
from skills_bundle.supply_chain.rebuild.front_end import FRONT_ENDS, FrontEnd, Order, unknown_option

ORDER = Order(kind="wheel", project="/p", out="/o", isolated=False, constraint="/c")


@pytest.mark.parametrize("name", ["uv", "build", "pip"])
def test_every_option_is_handed_on(name: FrontEnd) -> None:
    """Each front end has its own words for them."""
    words = front_end.command(name, (name,), ORDER, "python9")
    assert any("isolation" in word for word in words)
    assert "/c" in words
    assert (words[-1], words[words.index("/o")]) == ("/p", "/o")


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_one_archive_of_the_kind_is_asked_for(kind: str) -> None:
    """A wheel is not made through an sdist that nobody compares."""
    order = Order(kind="wheel" if kind == "wheel" else "sdist", project="/p", out="/o")
    asked = [front_end.command(name, (name,), order, "python9") for name in ("uv", "build")]
    assert all(f"--{kind}" in words for words in asked)


def test_what_hatch_does_not_know_is_named_by_option() -> None:
    """All at once."""
    order = Order(
        kind="wheel", project="/p", out="/o", isolated=False, constraint="/c", python="python9"
    )
    named = [problem.path for problem in front_end.problems("hatch", order)]
    assert named == ["--no-isolation", "--build-constraint", "--python"]


def test_pip_makes_no_sdist() -> None:
    """The others do."""
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
def test_what_changes_a_build_is_left_out(name: str) -> None:
    """Whoever calls may have set it for something else."""
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
def test_where_packages_are_taken_from_stays(name: str) -> None:
    """Else nobody behind a proxy could rebuild."""
    assert front_end.environment({name: "1"}, "/t")[name] == "1"


def test_temporary_files_go_where_they_are_removed() -> None:
    """By whatever name a system knows the folder."""
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
def test_a_log_tells_whether_requirements_were_lacking(log: str, *, lacks: bool) -> None:
    """As each front end says it."""
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
def test_a_log_tells_which_option_was_not_known(log: str, option: str | None) -> None:
    """Of those that were given; a build script may complain of others."""
    assert unknown_option(log, ("pip", "wheel", "--build-constraint", "c.txt")) == option
