"""What the finished archives hold, whatever the project selects; and what is not built."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import open_archive
from skills_bundle.bundle import lock
from skills_bundle.hatch_plugin.archives import read_sdist
from skills_bundle.hatch_plugin.selection import plain
from skills_bundle.supply_chain.archive.contents import contents_of
from skills_bundle.supply_chain.archive.verify import verify
from tests.hatch_plugin.sample import (
    BUNDLE,
    PYPROJECT,
    SKILL_MD,
    SampleProject,
    receipt_of,
    sdist_files,
    unpacked,
    wheel_files,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

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
    """Return the report of `verify-wheel` or `verify-sdist`."""
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
    assert "Tools could read this archive differently" in capsys.readouterr().err


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


def test_a_hard_link_in_an_sdist_is_the_file_it_is() -> None:
    """Hatchling writes the second name of one file as a link; its bytes are there all the same."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        first = tarfile.TarInfo("acme-1.0/a")
        first.size = 1
        archive.addfile(first, io.BytesIO(b"x"))
        second = tarfile.TarInfo("acme-1.0/b")
        second.type, second.linkname = tarfile.LNKTYPE, "acme-1.0/a"
        archive.addfile(second)
    assert read_sdist(buffer.getvalue())[1] == {"a": Member(b"x"), "b": Member(b"x")}


def bundled(wheel: Path, package: str = "acme_skills") -> list[str]:
    """Return the members of a wheel's bundle."""
    prefix = f"{package}/.agents/"
    return [name.removeprefix(prefix) for name in wheel_files(wheel) if name.startswith(prefix)]


def test_the_bundle_lies_in_the_packages_agents_folder(sample: SampleProject) -> None:
    """Skills, lock and receipt, and nothing else."""
    assert bundled(sample.wheel()) == [
        "build-receipt.json",
        "catalog.lock.json",
        "skills/greet/SKILL.md",
        "skills/greet/scripts/hi.sh",
    ]


def test_every_locked_file_is_in_the_wheel_and_back(sample: SampleProject) -> None:
    """The lock covers what ships and ships what it covers, byte for byte."""
    sample.write("skills/group/deep/inner/SKILL.md", SKILL_MD.replace(b"greet", b"inner"))
    sample.write("skills/group/deep/inner/.hidden", b"dot-files too")
    sample.write("skills/README.md", b"belongs to no skill")
    files = wheel_files(sample.locked().committed().wheel())
    locked = lock.parse(files[f"{BUNDLE}/catalog.lock.json"]).files()
    prefix = f"{BUNDLE}/skills/"
    shipped = {n.removeprefix(prefix): len(d) for n, d in files.items() if n.startswith(prefix)}
    assert shipped == {path: file.size for path, file in locked.items()}
    assert "group/deep/inner/.hidden" in shipped


def test_a_flat_layout_without_any_selection_works(tmp_path: Path) -> None:
    """Hatchling finds the package by its name, beside the skills."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "src/acme_skills").rename(sample.folder / "acme_skills")
    text = PYPROJECT.replace(
        '\n[tool.hatch.build.targets.wheel]\npackages = ["src/acme_skills"]', ""
    )
    sample.write("pyproject.toml", text.encode()).committed()
    wheel = sample.wheel()
    assert "skills/greet/SKILL.md" in bundled(wheel)
    assert receipt_of(wheel).source.state == "clean"
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_a_project_in_a_subfolder_of_its_repository_works(tmp_path: Path) -> None:
    """The receipt names the repository's commit, and the proof leads down to the subfolder."""
    repository = tmp_path / "all"
    sample = SampleProject.create(repository / "libs/acme", repository=repository)
    wheel = sample.wheel()
    source = receipt_of(wheel).source
    assert source.commit == sample.commit_id()
    assert len(source.proof or ()) == len(["commit", "/", "libs", "libs/acme"])
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_skills_inside_the_package_ship_with_the_code_beside_them(tmp_path: Path) -> None:
    """A skills folder may lie in the package; its Python files ship from the sdist too."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "skills").rename(sample.folder / "src/acme_skills/skills")
    sample.write("src/acme_skills/skills/__init__.py", b"")
    sample.replace("pyproject.toml", '"skills"\nrep', '"src/acme_skills/skills"\nrep')
    sample.locked().committed()
    wheel = sample.wheel()
    assert "acme_skills/skills/__init__.py" in wheel_files(wheel)
    assert receipt_of(wheel).source.state == "clean"
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_skills_that_ship_twice_are_reported_with_how_to_ship_them_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A skills folder in the package is the package's, too, unless it is excluded."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "skills").rename(sample.folder / "src/acme_skills/skills")
    sample.replace("pyproject.toml", '"skills"\nrep', '"src/acme_skills/skills"\nrep')
    assert "acme_skills/skills/greet/SKILL.md" in wheel_files(sample.locked().committed().wheel())
    line = 'exclude = ["src/acme_skills/skills"]'
    assert f"add {line} to [tool.hatch.build.targets.wheel]" in capsys.readouterr().err
    packages = 'packages = ["src/acme_skills"]'
    sample.replace("pyproject.toml", packages, f"{packages}\n{line}").committed()
    wheel = sample.wheel()
    assert [name for name in wheel_files(wheel) if name.endswith("SKILL.md")] == [
        "acme_skills/.agents/skills/greet/SKILL.md"
    ]
    assert receipt_of(wheel).source.state == "clean"
    assert "twice" not in capsys.readouterr().err
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_the_skills_folder_may_be_the_projects(tmp_path: Path) -> None:
    """Skills at the top of the project, code and all: the wheel names its commit."""
    sample = SampleProject.create(tmp_path / "acme")
    (sample.folder / "skills/greet").rename(sample.folder / "greet")
    sample.replace("pyproject.toml", 'skills = "skills"', 'skills = "."')
    sample.locked().committed()
    wheel = sample.wheel()
    assert "skills/greet/SKILL.md" in bundled(wheel)
    assert receipt_of(wheel).source.state == "clean"
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_a_package_in_a_namespace_works(tmp_path: Path) -> None:
    """`package` is a dotted import name."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.write("src/acme_ns/tools/__init__.py", b"")
    sample.replace("pyproject.toml", '["src/acme_skills"]', '["src/acme_ns"]')
    sample.replace("pyproject.toml", 'acme-skills = "acme_skills"', 'acme-skills = "acme_ns.tools"')
    sample.configure('package = "acme_ns.tools"').committed()
    assert "skills/greet/SKILL.md" in bundled(sample.wheel(), "acme_ns/tools")


def test_excluded_skills_do_not_ship(sample: SampleProject) -> None:
    """Neither in the wheel nor, since nothing there reads them, in the sdist."""
    sample.write("skills/draft/SKILL.md", SKILL_MD.replace(b"greet", b"draft"))
    sample.configure('exclude = ["draft"]').locked().committed()
    assert [name for name in bundled(sample.wheel()) if "draft" in name] == []
    assert receipt_of(sample.wheel()).source.state == "clean"


def test_licences_scripts_and_data_are_the_commits_too(tmp_path: Path) -> None:
    """What a wheel places outside its packages is compared with the commit like the rest."""
    sample = SampleProject.create(tmp_path / "acme")
    sample.write("LICENSE", b"MIT\n").write("tool.py", b"#!/usr/bin/python3\nprint()\n")
    sample.write("share/acme.conf", b"a = 1\n").configure(
        '\n[tool.hatch.build.targets.wheel.shared-data]\n"share" = "share"\n'
        '[tool.hatch.build.targets.wheel.shared-scripts]\n"tool.py" = "acme-tool"\n'
    )
    wheel = sample.committed().wheel()
    data = "acme_skills-1.0.data"
    assert wheel_files(wheel)[f"{data}/scripts/acme-tool"] == b"#!python\nprint()\n"
    assert wheel_files(wheel)[f"{data}/data/share/acme.conf"] == b"a = 1\n"
    assert receipt_of(wheel).source.state == "clean"
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


def test_a_member_that_comes_from_no_file_is_dirt(sample: SampleProject) -> None:
    """Whatever put it into hatchling's archive, no commit holds it."""
    sample.write(
        "hatch_build.py",
        b"import zipfile\n\n"
        b"from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook\n\n\n"
        b"class Smuggler(SkillsBundleBuildHook):\n"
        b"    def finalize(self, version, build_data, artifact_path):\n"
        b"        with zipfile.ZipFile(artifact_path, 'a') as archive:\n"
        b"            archive.writestr('acme_skills/more.py', b'')\n"
        b"        super().finalize(version, build_data, artifact_path)\n\n\n"
        b"def get_build_hook():\n    return Smuggler\n",
    ).committed()
    assert receipt_of(sample.wheel()).source.reason == "dirty_source"


def test_a_file_from_outside_an_sdist_is_not_what_its_receipt_speaks_of(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The wheel ships it all the same; the receipt is not relayed."""
    table = '\n[tool.hatch.build.targets.wheel.force-include]\n"../notice.txt" = "notice.txt"\n'
    (tmp_path / "notice.txt").write_bytes(b"notice\n")
    inside = unpacked(sample.configure(table).committed().sdist(), tmp_path / "out")
    (tmp_path / "out/notice.txt").write_bytes(b"notice\n")
    wheel = inside.wheel()
    assert wheel_files(wheel)["notice.txt"] == b"notice\n"
    assert receipt_of(wheel).source.commit is None


MINIMAL = 'only-include = ["src"]\ncore-metadata-version = "2.4"\n'


def test_lock_skills_and_receipt_are_in_an_sdist_that_selects_none_of_them(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Without them no wheel could be built from it."""
    sample.configure(f"\n[tool.hatch.build.targets.sdist]\n{MINIMAL}").committed()
    sdist = sample.sdist()
    assert {
        "catalog.lock.json",
        "build-receipt.json",
        "skills/greet/SKILL.md",
        "skills/greet/scripts/hi.sh",
    } <= {*sdist_files(sdist)}
    wheel = unpacked(sdist, tmp_path / "out").wheel()
    assert wheel.read_bytes() == sample.wheel().read_bytes()
    assert receipt_of(wheel).source.commit == sample.commit_id()


def test_what_the_skills_folder_holds_besides_skills_stays_out(sample: SampleProject) -> None:
    """The lock records it for the tree id; it does not ship."""
    sample.write("skills/README.md", b"# For editors\n").locked().committed()
    assert "skills/README.md" not in sdist_files(sample.sdist())


def test_the_wheel_from_such_an_sdist_is_the_same(sample: SampleProject, tmp_path: Path) -> None:
    """The lock's own record stands in for the files that did not ship."""
    sample.write("skills/README.md", b"# For editors\n").locked().committed()
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert inside.wheel().read_bytes() == sample.wheel().read_bytes()


def test_an_empty_file_ships(sample: SampleProject) -> None:
    """Nothing is mistaken for nothing."""
    sample.write("src/acme_skills/py.typed", b"").committed()
    assert sdist_files(sample.sdist())["src/acme_skills/py.typed"] == b""


def test_a_dangling_link_does_not_ship_and_is_said_to(sample: SampleProject) -> None:
    """Hatchling would ship the link; whoever unpacks it would get nothing, or something else."""
    (sample.folder / "notes").symlink_to("nowhere")
    sdist = sample.committed().sdist()
    assert "notes" not in sdist_files(sdist)
    assert receipt_of(sdist).source.reason == "dirty_source"


def test_a_setup_py_that_hatchling_writes_is_no_input(
    sample: SampleProject, tmp_path: Path
) -> None:
    """`support-legacy` makes it from the metadata, which are an input; wheels stay the same."""
    table = "\n[tool.hatch.build.targets.sdist]\nsupport-legacy = true\n"
    sdist = sample.configure(table).committed().sdist()
    assert "setup.py" in sdist_files(sdist)
    wheel = unpacked(sdist, tmp_path / "out").wheel()
    assert wheel.read_bytes() == sample.wheel().read_bytes()
