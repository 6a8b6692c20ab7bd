"""Where the bundle lies in a wheel, for the layouts that projects have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle import lock
from tests.hatch_plugin.sample import (
    BUNDLE,
    PYPROJECT,
    SKILL_MD,
    SampleProject,
    receipt_of,
    unpacked,
    wheel_files,
)

if TYPE_CHECKING:
    from pathlib import Path


def bundled(wheel: Path, package: str = "acme_skills") -> list[str]:
    """Give the members of a wheel's bundle."""
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
