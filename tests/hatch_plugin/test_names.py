"""What is built is accepted by what verifies, or it is not built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.reading import open_archive
from skills_bundle.hatch_plugin.names import plain
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hatch_plugin.sample import SampleProject

WHEEL = "\n[tool.hatch.build.targets.wheel."
ODD = {
    "scripts in the folder itself": f'{WHEEL}shared-scripts]\n"src/acme_skills" = "."\n',
    "a script with dots": f'{WHEEL}shared-scripts]\n"src/acme_skills/run.sh" = "./a/./run.sh"\n',
    "data with dots": f'{WHEEL}shared-data]\n"src/acme_skills/run.sh" = "./share//run.sh"\n',
    "a forced file with dots": f'{WHEEL}force-include]\n"hatch_build.py" = "acme_skills/./a.py"\n',
    "metadata with dots": f'{WHEEL}extra-metadata]\n"src/acme_skills/run.sh" = "./run.sh"\n',
    "an sdist with dots": (
        '\n[tool.hatch.build.targets.sdist.force-include]\n"hatch_build.py" = "./x/./y.py"\n'
    ),
}
REFUSED = {
    "two files under two spellings": (
        f'{WHEEL}shared-scripts]\n"src/acme_skills" = "."\n"hatch_build.py" = "run.sh"\n',
        "path_dot_component",
    ),
    "script elsewhere": (
        f'{WHEEL}shared-scripts]\n"src/acme_skills" = "../../acme_skills"\n',
        "path_dot_component",
    ),
    "forced file elsewhere": (
        f'{WHEEL}force-include]\n"hatch_build.py" = "acme_skills/../../evil.py"\n',
        "path_dot_component",
    ),
    "data over the package": (
        f'{WHEEL}shared-data]\n"hatch_build.py" = "lib/site-packages/acme_skills/__init__.py"\n',
        "install_place",
    ),
    "second metadata": (
        f'{WHEEL}force-include]\n"hatch_build.py" = "other-1.dist-info/METADATA"\n',
        "dist_info",
    ),
    "data of another name": (
        f'{WHEEL}force-include]\n"hatch_build.py" = "other.data/purelib/a.py"\n',
        "data_folder",
    ),
}


def verdict(archive: Path) -> str:
    """Say what `verify-wheel` or `verify-sdist` says."""
    return verify(contents_of(open_archive(archive))).verdict


@pytest.mark.parametrize("case", ODD)
def test_whatever_is_built_is_accepted(sample: SampleProject, case: str) -> None:
    """Odd spellings of hatchling's tables mean what they meant, in plain names."""
    text = (sample.folder / "pyproject.toml").read_text(encoding="utf-8")
    sample.write("pyproject.toml", (text + ODD[case]).encode()).committed()
    assert [verdict(sample.wheel()), verdict(sample.sdist())] == ["match", "match"]


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_be_refused_later_is_not_built(
    sample: SampleProject, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the code that verifying would give, and no archive left behind."""
    added, code = REFUSED[case]
    text = (sample.folder / "pyproject.toml").read_text(encoding="utf-8")
    sample.write("pyproject.toml", (text + added).encode()).committed()
    with pytest.raises(SystemExit):
        sample.wheel()
    assert f"[{code}]" in capsys.readouterr().err
    assert not list(sample.folder.glob("dist/*.whl"))


@pytest.mark.parametrize("name", ["src/acme_skills/Run.sh", "a:b", "a\\b", "end.", "x;1"])
def test_a_file_that_is_another_one_somewhere_is_not_built(
    sample: SampleProject, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither into the sdist, nor into a wheel from it."""
    sample.write(name, b"#!/bin/sh\n").committed()
    with pytest.raises(SystemExit):
        sample.sdist()
    assert "Not every tool would take the archive for the same" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a/./b//c", "a/b/c"),
        ("./a", "a"),
        ("a/../b", "a/../b"),
        ("/a/./b", "/a/./b"),
        ("a/.b/..c", "a/.b/..c"),
    ],
)
def test_only_components_that_mean_nothing_are_left_out(name: str, wanted: str) -> None:
    """What leads elsewhere must still be seen."""
    assert plain(name) == wanted
