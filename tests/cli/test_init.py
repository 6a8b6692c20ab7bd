"""`init`: a project made from nothing, and one given the hook without a word of it changed."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from skills_bundle import __version__
from skills_bundle.project import project, settings
from skills_bundle.project.settings import table_at
from tests.cli.runner import call
from tests.repository.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "---\nname: {name}\ndescription: What {name} does. Use when asked.\n---\n\n# {name}\n"
HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "acme-tools"
version = "1.0"
"""


def skill(folder: Path, path: str) -> None:
    """Write a skill."""
    place = folder / path
    place.mkdir(parents=True)
    text = SKILL.format(name=place.name)
    (place / "SKILL.md").write_text(text, encoding="utf-8", newline="\n")


def hatchling(folder: Path, text: str = HATCHLING, package: str = "src/acme_tools") -> Path:
    """Write a project of somebody's."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    (folder / "pyproject.toml").write_text(text, encoding="utf-8", newline="")
    skill(folder, "skills/greet")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file with its bytes."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def parsed(folder: Path) -> dict[str, object]:
    """Return the project's pyproject.toml."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def test_an_empty_folder_becomes_a_whole_project(tmp_path: Path) -> None:
    """With a package, a skill, a lock and what git needs; the folder is made, too."""
    assert call("init", str(tmp_path / "acme-skills")).code == 0
    assert sorted(tree(tmp_path / "acme-skills")) == [
        ".gitattributes",
        ".gitignore",
        "README.md",
        "catalog.lock.json",
        "pyproject.toml",
        "skills/example-skill/SKILL.md",
        "src/acme_skills/__init__.py",
    ]


def test_the_lock_of_a_new_project_is_current(tmp_path: Path) -> None:
    """So its first build works; its skill has no warning either."""
    call("init", str(tmp_path))
    assert call("lock", str(tmp_path), "--check", "--strict").code == 0


def test_a_new_project_pins_what_builds_it(tmp_path: Path) -> None:
    """The backend as this project's own, and the running version of ours."""
    call("init", str(tmp_path), "--name", "acme")
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    backend = next(row for row in own["build-system"]["requires"] if "hatchling" in row)
    requires = [backend, f"skills-bundle=={__version__}"]
    assert parsed(tmp_path)["build-system"] == {
        "requires": requires,
        "build-backend": "hatchling.build",
    }


def test_skills_that_are_there_are_shipped(tmp_path: Path) -> None:
    """Wherever they are; no other is made."""
    skill(tmp_path, "plugins/a/skills/one")
    skill(tmp_path, "plugins/b/skills/two")
    report = call("init", str(tmp_path), "--name", "acme", "--json").json
    assert (report["skills_folder"], report["found"]) == ("plugins", 2)
    assert "example-skill" not in " ".join(tree(tmp_path))


def test_code_beside_skills_is_not_taken_for_the_package(tmp_path: Path) -> None:
    """A repository of skills may hold tools of its own; the project gets a package for itself."""
    skill(tmp_path, "skills/one")
    (tmp_path / "tools/adapters").mkdir(parents=True)
    (tmp_path / "tools/adapters/__init__.py").touch()
    assert call("init", str(tmp_path), "--name", "acme", "--json").json["package"] == "acme"


def test_a_package_in_a_namespace_ships_with_it(tmp_path: Path) -> None:
    """Hatchling drops what lies above the folder that it is given."""
    call("init", str(tmp_path), "--name", "acme", "--package", "org.acme.skills")
    wheel_table = table_at(parsed(tmp_path), "tool", "hatch", "build", "targets", "wheel")
    assert wheel_table["packages"] == ["src/org"]
    assert (tmp_path / "src/org/acme/skills/__init__.py").exists()


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    """A README, ignore and attribute files of a project stay, the last with lines added."""
    (tmp_path / "README.md").write_text("Mine.\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("secret\n", encoding="utf-8")
    (tmp_path / ".gitattributes").write_text("*.png binary", encoding="utf-8")
    call("init", str(tmp_path), "--name", "acme")
    found = tree(tmp_path)
    assert found["README.md"] == b"Mine.\n"
    assert found[".gitignore"] == b"secret\n"
    assert found[".gitattributes"] == (b"*.png binary\nskills/** -text\ncatalog.lock.json -text\n")


def test_a_file_of_settings_for_tools_alone_becomes_a_project(tmp_path: Path) -> None:
    """What it says stays below."""
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 80\n", encoding="utf-8")
    call("init", str(tmp_path), "--name", "acme")
    assert parsed(tmp_path)["tool"]["ruff"] == {"line-length": 80}  # type: ignore[index]
    assert settings.read(tmp_path / "pyproject.toml").package == "acme"


def test_a_hatchling_project_gets_the_hook_and_keeps_its_text(tmp_path: Path) -> None:
    """The whole file, as one sees it."""
    hatchling(tmp_path)
    assert call("init", str(tmp_path)).code == 0
    assert (
        (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
        == f"""\
[build-system]
requires = ["hatchling", "skills-bundle=={__version__}"]
build-backend = "hatchling.build"

[project]
name = "acme-tools"
version = "1.0"

[project.entry-points."skills_bundle.collections"]
acme-tools = "acme_tools"

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.hooks.skills-bundle]
skills = "skills"
"""
    )


@pytest.mark.parametrize("options", [(), ("--console-script", "acme")], ids=["plain", "script"])
@pytest.mark.parametrize("there", [True, False], ids=["existing", "new"])
def test_a_second_run_changes_nothing(
    tmp_path: Path, options: tuple[str, ...], *, there: bool
) -> None:
    """And says so."""
    if there:
        hatchling(tmp_path)
    call("init", str(tmp_path), "--name", "acme-tools", *options)
    before = tree(tmp_path)
    report = call("init", str(tmp_path), *options, "--json").json
    assert (report["status"], report["files"], tree(tmp_path)) == ("unchanged", [], before)


def test_a_dry_run_prints_a_diff_and_writes_nothing(tmp_path: Path) -> None:
    """A diff that `git apply` takes, and that gives what a run gives."""
    hatchling(tmp_path / "a")
    hatchling(tmp_path / "b")
    before = tree(tmp_path / "a")
    diff = call("init", str(tmp_path / "a"), "--dry-run", "--json").json["diff"]
    assert tree(tmp_path / "a") == before
    (tmp_path / "patch").write_text(diff, encoding="utf-8", newline="\n")
    subprocess.run(["git", "apply", "../patch"], cwd=tmp_path / "a", check=True)
    call("init", str(tmp_path / "b"))
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_the_package_is_found_in_a_flat_layout(tmp_path: Path) -> None:
    """Whatever it is called, if it is the only one."""
    hatchling(tmp_path, package="tools")
    assert call("init", str(tmp_path), "--json").json["package"] == "tools"
    assert settings.read(tmp_path / "pyproject.toml").package == "tools"


def test_the_package_is_found_in_a_namespace(tmp_path: Path) -> None:
    """The first folder that holds an `__init__.py`."""
    hatchling(tmp_path, package="src/acme/skills")
    assert call("init", str(tmp_path), "--json").json["package"] == "acme.skills"


def test_several_packages_are_asked_about(tmp_path: Path) -> None:
    """By the option that says it; nothing is written."""
    hatchling(tmp_path, package="src/one")
    (tmp_path / "src/two").mkdir()
    (tmp_path / "src/two/__init__.py").touch()
    before = tree(tmp_path)
    ran = call("init", str(tmp_path))
    assert ran.code == 2
    assert "--package: there are several packages: one, two; choose one" in ran.stderr
    assert tree(tmp_path) == before
    assert call("init", str(tmp_path), "--package", "two").code == 0


def test_a_package_that_the_wheel_names_goes_first(tmp_path: Path) -> None:
    """The wheel's own configuration says what ships."""
    wheel = '\n[tool.hatch.build.targets.wheel]\npackages = ["src/two"]\n'
    hatchling(tmp_path, HATCHLING + wheel, package="src/one")
    (tmp_path / "src/two").mkdir()
    (tmp_path / "src/two/__init__.py").touch()
    assert call("init", str(tmp_path), "--json").json["package"] == "two"


def test_a_package_that_is_made_is_shipped(tmp_path: Path) -> None:
    """Beside the one that the wheel names."""
    wheel = '\n[tool.hatch.build.targets.wheel]\npackages = ["src/acme_tools"]\n'
    hatchling(tmp_path, HATCHLING + wheel)
    call("init", str(tmp_path), "--package", "acme_skills")
    assert (tmp_path / "src/acme_skills/__init__.py").exists()
    wheel_table = table_at(parsed(tmp_path), "tool", "hatch", "build", "targets", "wheel")
    assert wheel_table["packages"] == ["src/acme_tools", "src/acme_skills"]


def test_a_hatch_toml_gets_the_hook_where_it_counts(tmp_path: Path) -> None:
    """Hatchling does not read the other table then."""
    hatchling(tmp_path)
    (tmp_path / "hatch.toml").write_text("[build]\nexclude = ['x']\n", encoding="utf-8")
    call("init", str(tmp_path))
    assert "tool" not in parsed(tmp_path)
    assert settings.read(tmp_path / "pyproject.toml").where == (
        "hatch.toml: build.hooks.skills-bundle"
    )


def test_skills_elsewhere_are_named(tmp_path: Path) -> None:
    """They are left out, and not silently."""
    hatchling(tmp_path)
    skill(tmp_path, "template/blank")
    ran = call("init", str(tmp_path))
    assert "note: skills in other folders are left out: template/blank" in ran.stderr


def test_several_skill_folders_are_asked_about(tmp_path: Path) -> None:
    """With what lies where."""
    skill(tmp_path, "a/one")
    skill(tmp_path, "b/two")
    ran = call("init", str(tmp_path), "--name", "acme")
    assert (ran.code, "--skills: skills are in several folders: a (1), b (1)" in ran.stderr) == (
        2,
        True,
    )


def test_a_refused_skill_leaves_everything_but_the_lock(tmp_path: Path) -> None:
    """The project is whole, the reasons are told, and the exit code is 1."""
    skill(tmp_path, "skills/good")
    (tmp_path / "skills/bad").mkdir()
    (tmp_path / "skills/bad/SKILL.md").write_text("no head\n", encoding="utf-8")
    ran = call("init", str(tmp_path), "--name", "acme")
    assert (ran.code, "skills/bad/SKILL.md" in ran.stderr) == (1, True)
    assert (tmp_path / "pyproject.toml").exists()
    assert not (tmp_path / "catalog.lock.json").exists()


def test_what_is_excluded_is_not_locked(tmp_path: Path) -> None:
    """Nor does it stand in the way."""
    skill(tmp_path, "skills/good")
    (tmp_path / "skills/bad").mkdir()
    (tmp_path / "skills/bad/SKILL.md").write_text("no head\n", encoding="utf-8")
    assert call("init", str(tmp_path), "--name", "acme", "--exclude", "bad").code == 0
    assert settings.read(tmp_path / "pyproject.toml").exclude == ("bad",)
    assert [row.path for row in project.make_lock(project.load(tmp_path))[0].skills] == ["good"]


def test_a_refused_skill_can_be_left_out_by_a_second_run(tmp_path: Path) -> None:
    """Which adds the setting, and the lock that the first could not make."""
    skill(tmp_path, "skills/good")
    (tmp_path / "skills/bad").mkdir()
    (tmp_path / "skills/bad/SKILL.md").write_text("no head\n", encoding="utf-8")
    assert call("init", str(tmp_path), "--name", "acme").code == 1
    report = call("init", str(tmp_path), "--exclude", "bad", "--json").json
    assert [row["path"] for row in report["files"]] == ["pyproject.toml", "catalog.lock.json"]
    assert settings.read(tmp_path / "pyproject.toml").exclude == ("bad",)


def test_a_name_mismatch_can_be_allowed(tmp_path: Path) -> None:
    """The setting is written, so that the build allows it as well."""
    skill(tmp_path, "skills/good")
    (tmp_path / "skills/good").rename(tmp_path / "skills/better")
    assert call("init", str(tmp_path), "--name", "acme").code == 1
    assert call("init", str(tmp_path), "--allow", "name_mismatch").code == 0
    assert settings.read(tmp_path / "pyproject.toml").allow == ("name_mismatch",)
    (made,) = project.make_lock(project.load(tmp_path))[0].skills
    assert (made.name, made.path, made.diagnostics) == ("good", "better", ("name_mismatch",))


def test_options_become_settings(tmp_path: Path) -> None:
    """Those that say otherwise than the defaults."""
    address, ref = "https://acme.example/skills", "refs/tags/v{version}"
    call(
        *("init", str(tmp_path), "--name", "acme", "--collection", "ours"),
        *("--repository", address, "--source-ref", ref),
    )
    found = settings.read(tmp_path / "pyproject.toml")
    assert (found.collection, found.repository, found.source_ref) == ("ours", address, ref)


def test_a_console_script_brings_its_module_and_its_dependency(tmp_path: Path) -> None:
    """A range, for it decides about no byte."""
    hatchling(tmp_path)
    call("init", str(tmp_path), "--console-script", "acme")
    table = parsed(tmp_path)["project"]
    assert isinstance(table, dict)
    assert table["scripts"] == {"acme": "acme_tools.__main__:main"}
    assert table["dependencies"] == ["skills-bundle>=0.1.0,<0.2"]
    module = (tmp_path / "src/acme_tools/__main__.py").read_text(encoding="utf-8")
    assert 'main = command_line("acme-tools", program="acme")' in module


def test_a_main_module_of_somebodys_is_left_alone(tmp_path: Path) -> None:
    """The script's goes beside it."""
    hatchling(tmp_path)
    (tmp_path / "src/acme_tools/__main__.py").write_text("print(1)\n", encoding="utf-8")
    call("init", str(tmp_path), "--console-script", "acme")
    assert (tmp_path / "src/acme_tools/__main__.py").read_text(encoding="utf-8") == "print(1)\n"
    assert (tmp_path / "src/acme_tools/skills_command.py").exists()


BACKENDS = {
    "setuptools": '[build-system]\nrequires=["setuptools"]\n'
    'build-backend="setuptools.build_meta"\n[project]\nname="a"\n',
    "poetry": '[build-system]\nrequires=["poetry-core"]\n'
    'build-backend="poetry.core.masonry.api"\n[tool.poetry]\nname="a"\n',
    "flit": '[build-system]\nrequires=["flit_core"]\nbuild-backend="flit_core.buildapi"\n'
    '[project]\nname="a"\n',
    "uv_build": '[build-system]\nrequires=["uv_build"]\nbuild-backend="uv_build"\n'
    '[project]\nname="a"\n',
    "none named": '[project]\nname="a"\n',
}


@pytest.mark.parametrize("text", BACKENDS.values(), ids=BACKENDS)
def test_another_backend_is_refused_with_what_would_have_to_change(
    tmp_path: Path, text: str
) -> None:
    """And nothing is written."""
    hatchling(tmp_path, text)
    before = tree(tmp_path)
    ran = call("init", str(tmp_path))
    assert ran.code == 2
    assert "build-system.build-backend: is" in ran.stderr
    assert "[tool.hatch.build]" in ran.stderr or "hatchling.build" in ran.stderr
    assert tree(tmp_path) == before


WRONG = {
    "no TOML": ("[project\n", "pyproject.toml:1: is not TOML"),
    "another entry": (
        HATCHLING + '[project.entry-points."skills_bundle.collections"]\nacme-tools = "other"\n',
        "project.entry-points.\"skills_bundle.collections\".acme-tools: is 'other'",
    ),
    "another collection": (
        HATCHLING + '[project.entry-points."skills_bundle.collections"]\nfirst = "acme_tools"\n',
        "--collection: the project declares 'first'",
    ),
    "another script": (
        HATCHLING + '[project.scripts]\nacme = "acme_tools.cli:main"\n',
        "project.scripts.acme: is 'acme_tools.cli:main'",
    ),
    "for one target": (
        HATCHLING + "[tool.hatch.build.targets.wheel.hooks.skills-bundle]\nskills = 'skills'\n",
        "is for one target only; move it to tool.hatch.build.hooks.skills-bundle",
    ),
    "unusable settings": (
        HATCHLING + "[tool.hatch.build.hooks.skills-bundle]\nskils = 'skills'\n",
        "tool.hatch.build.hooks.skills-bundle.skils: is not a setting",
    ),
    "dynamic entry points": (
        HATCHLING + "dynamic = ['entry-points']\n",
        "project.dynamic: lists entry-points",
    ),
    "no project": (
        HATCHLING.split("[project]", maxsplit=1)[0],
        "project: is missing; hatchling takes name and version from it",
    ),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_a_project_that_says_otherwise_is_told_so(tmp_path: Path, text: str, told: str) -> None:
    """With the place and the cause; nothing is written."""
    hatchling(tmp_path, text)
    before = tree(tmp_path)
    ran = call("init", str(tmp_path), "--console-script", "acme")
    assert (ran.code, told in ran.stderr) == (2, True), ran.stderr
    assert tree(tmp_path) == before


def test_every_conflict_is_told_at_once(tmp_path: Path) -> None:
    """Nobody runs it five times to find five."""
    hatchling(
        tmp_path,
        HATCHLING
        + "dynamic = ['dependencies']\n"
        + '[project.scripts]\nacme = "other:main"\n'
        + '[project.entry-points."skills_bundle.collections"]\nacme-tools = "other"\n',
    )
    report = call("init", str(tmp_path), "--console-script", "acme", "--json").json
    assert [row["path"] for row in report["error"]["problems"]] == [
        'project.entry-points."skills_bundle.collections".acme-tools',
        "project.scripts.acme",
        "project.dynamic",
    ]


def test_every_unusable_option_is_told_at_once(tmp_path: Path) -> None:
    """By the rules of the settings they become."""
    ran = call(
        *("init", str(tmp_path), "--name", "acme", "--collection", "A B", "--package", "1"),
        *("--repository", "x", "--source-ref", "main", "--skills", "../x", "--json"),
    )
    paths = [row["path"] for row in ran.json["error"]["problems"]]
    assert paths == ["--collection", "--package", "--skills", "--repository", "--source-ref"]
    assert not (tmp_path / "pyproject.toml").exists()


def test_a_linked_pyproject_is_not_replaced(tmp_path: Path) -> None:
    """What it points to is somebody else's."""
    hatchling(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/pyproject.toml").symlink_to("../a/pyproject.toml")
    ran = call("init", str(tmp_path / "b"))
    assert (ran.code, "is a link" in ran.stderr) == (2, True)


def test_nothing_is_committed(tmp_path: Path) -> None:
    """In a repository, what was written is there to be looked at."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    ran = call("init", str(tmp_path), "--name", "acme")
    assert "Next: `cd" in ran.stderr
    assert "`git init`" not in ran.stderr
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"?? pyproject.toml" in status.stdout


def test_skills_that_git_ignores_are_told_and_no_other_is_made_beside_them(tmp_path: Path) -> None:
    """A lock of them would be of files that no commit has."""
    hatchling(tmp_path)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("skills/\n", encoding="utf-8")
    before = tree(tmp_path)
    answer = call("init", str(tmp_path))
    assert (answer.code, "SKILL.md: is ignored by git" in answer.stderr) == (2, True)
    assert tree(tmp_path) == before


def test_a_skills_folder_that_is_a_link_is_told_and_not_written_through(tmp_path: Path) -> None:
    """What it leads to may be anybody's."""
    project = hatchling(tmp_path / "project")
    (project / "skills").rename(tmp_path / "elsewhere")
    (project / "skills").symlink_to(tmp_path / "elsewhere")
    before = tree(tmp_path)
    answer = call("init", str(project))
    assert (answer.code, "skills: is a link" in answer.stderr) == (2, True)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["json", "os", "test", "class", "3d"])
def test_a_folder_whose_name_no_import_finds_needs_another_package(
    tmp_path: Path, name: str
) -> None:
    """Python finds its own module, or none, so that no server would find the collection."""
    answer = call("init", str(tmp_path / name))
    assert (answer.code, "--package: " in answer.stderr) == (2, True)
    assert call("init", str(tmp_path / name), "--package", "acme").code == 0


@pytest.mark.parametrize("script", ["", "../evil", "a b", "-x", ".x", 'a"\n[x]', "a\udcff"])
def test_a_console_script_has_a_name_that_a_file_can_have(tmp_path: Path, script: str) -> None:
    """Installers make a file of it in a folder of programs."""
    answer = call("init", str(tmp_path / "acme"), f"--console-script={script}")
    assert (answer.code, "--console-script: " in answer.stderr) == (2, True)


@pytest.mark.parametrize("folder", ["!skills", "#skills", "my [own] skills", "own[s]"])
def test_git_leaves_the_bytes_of_a_skills_folder_alone_whatever_its_name(
    tmp_path: Path, folder: str
) -> None:
    """Also where a pattern of git's would read the name as something else."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert call("init", str(tmp_path), "--name", "acme", f"--skills={folder}").code == 0
    asked = [
        "git",
        "-C",
        str(tmp_path),
        "check-attr",
        "text",
        "--",
        f"{folder}/example-skill/SKILL.md",
    ]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True, encoding="utf-8")
    assert answer.stdout.endswith("text: unset\n")


@pytest.mark.parametrize("shape", ["git", "no git", "below the skills", "new"])
def test_the_next_steps_lead_to_a_commit_whose_lock_is_current(tmp_path: Path, shape: str) -> None:
    """Also where the files that were made lie in the skills folder, of which the lock tells."""
    place = tmp_path / "acme"
    for path in (
        [] if shape == "new" else ["src/one"] if shape == "below the skills" else ["a", "b"]
    ):
        skill(place, path)
    if shape != "no git":
        subprocess.run(["git", "init", "-q", str(place)], check=True)
    answer = call("init", str(place), *(["--skills", "."] if shape == "new" else []))
    assert answer.code == 0
    steps = re.findall(r"`([^`]*)`", answer.stderr)
    assert steps[-1] == "uv build"
    for words in map(shlex.split, steps[1:-1]):  # the first one goes there
        if words[0] == "skills-bundle":
            assert call(*words[1:], str(place)).code == 0
        else:
            identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
            git = ["git", "-C", str(place), *identity, *words[1:]]
            subprocess.run(git, check=True, capture_output=True)
    assert call("lock", str(place), "--check").code == 0


def test_a_project_without_a_lock_is_not_called_ready(tmp_path: Path) -> None:
    """A skill was refused; thousands of reasons would hide the first."""
    for number in range(30):
        (tmp_path / f"skills/bad-{number}").mkdir(parents=True)
        (tmp_path / f"skills/bad-{number}/SKILL.md").write_text("no head\n", encoding="utf-8")
    ran = call("init", str(tmp_path), "--name", "acme")
    assert (ran.code, "ready" in ran.stdout) == (1, False)
    assert "written, except the lock" in " ".join(ran.stdout.split())
    assert "and 10 more" in ran.stderr
