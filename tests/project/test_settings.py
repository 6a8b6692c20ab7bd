"""Settings as a project writes them, and everything that can be wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import SettingsError
from skills_bundle.project.settings import CHECKS, KEYS, Settings, defaults, parse, read

if TYPE_CHECKING:
    from pathlib import Path

WHERE = "tool.hatch.build.hooks.skills-bundle"
EVERYTHING: dict[str, object] = {
    "skills": "content/skills",
    "package": "acme.skills",
    "repository": "https://example.org/acme/skills",
    "source-ref": "refs/tags/v{version}",
    "strict": True,
    "exclude": ["drafts", "old/"],
    "proof": False,
    "collection": "acme-skills.v2",
    "compression": "deflated",
    "allow": ["name_mismatch"],
    "sbom": False,
}


def problems(table: dict[str, object]) -> dict[str, str]:
    """Return what is wrong with a table, as TOML path to message."""
    with pytest.raises(SettingsError) as caught:
        parse(table, WHERE, "acme")
    return {problem.path or "": problem.message for problem in caught.value.problems}


def test_a_project_that_says_nothing_gets_defaults_from_its_name() -> None:
    """Package and collection derive from the normalised name."""
    assert parse({}, WHERE, "Acme.Skills") == Settings(
        package="acme_skills", collection="acme-skills", where=WHERE
    )


def test_every_setting_is_read() -> None:
    """Each key reaches the field of its name."""
    assert parse(EVERYTHING, WHERE, "acme") == Settings(
        skills="content/skills",
        package="acme.skills",
        repository="https://example.org/acme/skills",
        source_ref="refs/tags/v{version}",
        strict=True,
        exclude=("drafts", "old/"),
        proof=False,
        collection="acme-skills.v2",
        compression="deflated",
        allow=("name_mismatch",),
        sbom=False,
        where=WHERE,
    )


def test_every_key_has_a_check_and_a_case_here() -> None:
    """A new setting cannot be forgotten."""
    assert set(KEYS) == set(CHECKS) == set(EVERYTHING)


def test_all_problems_are_told_at_once_with_full_paths() -> None:
    """Unknown keys and wrong values of one table come in one error."""
    assert set(problems({"skils": 1, "proof": 1, "compression": "zip"})) == {
        f"{WHERE}.skils",
        f"{WHERE}.proof",
        f"{WHERE}.compression",
    }


def test_hatchlings_own_keys_are_left_to_it() -> None:
    """A custom hook's script and hatchling's switches are no settings of ours."""
    table: dict[str, object] = {"path": "build/hatch_build.py", "enable-by-default": True}
    assert parse(table, WHERE, "acme").skills == "skills"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("skills", ""),
        ("skills", 1),
        ("skills", "../skills"),
        ("skills", "/skills"),
        ("skills", "skills/"),
        ("skills", "a\\b"),
        ("skills", "con"),
        ("skills", "x" * 5000),
        ("package", "acme-skills"),
        ("package", "acme..skills"),
        ("package", "1acme"),
        ("package", "../acme"),
        ("repository", "example.org/acme"),
        ("repository", "https://"),
        ("repository", "https://example.org/a b"),
        ("repository", "https://ada:secret@example.org/acme"),
        ("repository", "file:///home/ada/acme"),
        ("source-ref", "v{version}"),
        ("source-ref", "refs/tags/{name}"),
        ("source-ref", "refs/tags/v{version"),
        ("source-ref", "refs/tags/a..b"),
        ("source-ref", "refs/tags/a b"),
        ("source-ref", "refs/tags/a.lock"),
        ("strict", "true"),
        ("strict", 1),
        ("exclude", "drafts"),
        ("exclude", [1]),
        ("exclude", ["../x"]),
        ("exclude", ["."]),
        ("proof", None),
        ("collection", "Acme"),
        ("collection", "acme skills"),
        ("collection", "-acme"),
        ("collection", "a" * 65),
        ("compression", "STORED"),
        ("compression", ["stored"]),
        ("sbom", "yes"),
    ],
)
def test_an_unusable_value_is_told_by_its_path(key: str, value: object) -> None:
    """One key wrong, one problem."""
    assert list(problems({**EVERYTHING, key: value})) == [f"{WHERE}.{key}"]


def test_every_wrong_folder_of_a_list_is_told_by_its_position() -> None:
    """Positions count from 0, as in the problem's other paths."""
    with pytest.raises(SettingsError, match=r"entry 0: .*\n.*entry 2: "):
        parse({"exclude": ["../a", "fine", "b//c"]}, WHERE, "acme")


def test_the_ref_of_a_version_fills_in_the_template() -> None:
    """The one placeholder; without a template there is no ref."""
    assert parse(EVERYTHING, WHERE, "acme").ref("1.2") == "refs/tags/v1.2"
    assert defaults("acme").ref("1.2") is None


PYPROJECT = '[project]\nname = "acme"\n\n[tool.hatch.build.hooks.skills-bundle]\nstrict = true\n'


def test_the_table_of_the_registered_hook_is_found(tmp_path: Path) -> None:
    """With its dotted path, which later messages name."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    found = read(tmp_path / "pyproject.toml")
    assert (found.strict, found.where) == (True, WHERE)


def test_a_custom_hook_is_ours_if_it_holds_a_key_of_ours(tmp_path: Path) -> None:
    """Another project's custom hook is none of our business."""
    place = tmp_path / "pyproject.toml"
    text = '[project]\nname = "acme"\n[tool.hatch.build.hooks.custom]\n'
    place.write_text(text + "skills = 'content'\n", encoding="utf-8")
    assert read(place).skills == "content"
    place.write_text(text + "flavour = 'mint'\n", encoding="utf-8")
    assert read(place) == defaults("acme")


def test_the_table_of_one_target_is_found(tmp_path: Path) -> None:
    """Hatchling lets a target have its own."""
    text = PYPROJECT.replace("build.hooks", "build.targets.wheel.hooks")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    found = read(tmp_path / "pyproject.toml")
    assert found.where == "tool.hatch.build.targets.wheel.hooks.skills-bundle"


def test_targets_that_disagree_are_refused(tmp_path: Path) -> None:
    """One lock belongs to wheel and sdist alike."""
    other = "[tool.hatch.build.targets.sdist.hooks.skills-bundle]\nstrict = false\n"
    (tmp_path / "pyproject.toml").write_text(PYPROJECT + other, encoding="utf-8")
    with pytest.raises(SettingsError, match="all targets ship one bundle"):
        read(tmp_path / "pyproject.toml")


def test_wrong_tables_of_several_targets_are_told_at_once(tmp_path: Path) -> None:
    """Each with its own path."""
    other = "[tool.hatch.build.targets.sdist.hooks.skills-bundle]\nproof = 1\n"
    wrong = PYPROJECT.replace("strict = true", "strict = 1") + other
    (tmp_path / "pyproject.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        read(tmp_path / "pyproject.toml")
    assert [problem.path for problem in caught.value.problems] == [
        f"{WHERE}.strict",
        "tool.hatch.build.targets.sdist.hooks.skills-bundle.proof",
    ]


def test_a_hatch_toml_goes_before_pyproject(tmp_path: Path) -> None:
    """As it does for hatchling; the path says which file."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    text = "[build.hooks.skills-bundle]\nskills = 'content'\n"
    (tmp_path / "hatch.toml").write_text(text, encoding="utf-8")
    found = read(tmp_path / "pyproject.toml")
    assert (found.skills, found.strict) == ("content", False)
    assert found.where == "hatch.toml: build.hooks.skills-bundle"


def test_a_hatch_toml_without_builds_changes_nothing(tmp_path: Path) -> None:
    """It may hold environments alone."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tmp_path / "hatch.toml").write_text("[envs.default]\n", encoding="utf-8")
    assert read(tmp_path / "pyproject.toml").where == WHERE


def test_targets_that_agree_are_one(tmp_path: Path) -> None:
    """Said twice is said once."""
    other = "[tool.hatch.build.targets.sdist.hooks.skills-bundle]\nstrict = true\n"
    (tmp_path / "pyproject.toml").write_text(PYPROJECT + other, encoding="utf-8")
    assert read(tmp_path / "pyproject.toml").where == WHERE


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[project]\nname = 'acme'\nname = 'again'\n", 3),
        (b"[project]\nname = \xff\n", 2),
        (b"\n\n[project\n", 3),
    ],
)
def test_what_is_not_toml_is_told_with_its_line(tmp_path: Path, data: bytes, line: int) -> None:
    """Syntax and encoding alike."""
    (tmp_path / "pyproject.toml").write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        read(tmp_path / "pyproject.toml")
    assert [(row.path, row.line) for row in caught.value.problems] == [("pyproject.toml", line)]


@pytest.mark.parametrize("data", [b"", b"[project]\n", b"[project]\nname = 1\n", b"project = 1\n"])
def test_a_project_without_a_name_is_told(tmp_path: Path, data: bytes) -> None:
    """Two defaults derive from it."""
    (tmp_path / "pyproject.toml").write_bytes(data)
    with pytest.raises(SettingsError, match=r"project\.name"):
        read(tmp_path / "pyproject.toml")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """By its name, without the folders of this machine."""
    with pytest.raises(SettingsError, match=r"pyproject\.toml: No such file"):
        read(tmp_path / "pyproject.toml")


def test_a_file_that_is_too_large_is_not_parsed(tmp_path: Path) -> None:
    """The bound is told."""
    (tmp_path / "pyproject.toml").write_bytes(b"#" * (5 * 1024 * 1024))
    with pytest.raises(SettingsError, match="more than"):
        read(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    ("key", "meant"), [("skils", "skills"), ("source_ref", "source-ref"), ("excludes", "exclude")]
)
def test_an_unknown_key_names_the_one_that_was_meant(key: str, meant: str) -> None:
    """A typo need not be looked for in the list."""
    with pytest.raises(SettingsError, match=rf"{key}: is not a setting; did you mean {meant}\?"):
        parse({key: "x"}, "hooks.skills-bundle", "acme")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('[tool.hatch.build.hooks]\nskills-bundle = "skills"\n', "hooks.skills-bundle"),
        ("[tool.hatch.build]\nhooks = []\n", "hooks"),
        ("[tool.hatch.build.targets.wheel]\nhooks = 1\n", "targets.wheel.hooks"),
    ],
    ids=["the hook", "all hooks", "hooks of a target"],
)
def test_something_else_in_the_place_of_a_table_is_told(
    tmp_path: Path, text: str, path: str
) -> None:
    """With its full path; it is not taken for a project that says nothing."""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "a"\n{text}', encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        read(tmp_path / "pyproject.toml")
    found = [(row.path, row.message) for row in caught.value.problems]
    assert found == [(f"tool.hatch.build.{path}", "must be a table")]


def test_a_registered_and_a_custom_table_that_differ_are_refused(tmp_path: Path) -> None:
    """One bundle has one set of settings, whatever loads the hook."""
    text = """[project]
name = "a"
[tool.hatch.build.hooks.skills-bundle]
skills = "one"
[tool.hatch.build.hooks.custom]
skills = "two"
"""
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"hooks\.custom: differs from"):
        read(tmp_path / "pyproject.toml")
