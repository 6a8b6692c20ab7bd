"""`lock`: everything found is locked or refused, stale locks are told, files replaced at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.bundle import lock as locks
from tests.cli.runner import call, on_terminal, spawn
from tests.hatch_plugin.sample import SampleProject

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "---\nname: {name}\ndescription: What {name} is for.\n---\n\nText.\n"
WARNED = "---\nname: {name}\ndescription: What {name} is for.\ncolour: red\n---\n"
REFUSED = "---\nname: other\n---\n"


def _skill(folder: Path, path: str, text: str = GOOD) -> Path:
    file = folder / path / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.format(name=file.parent.name), encoding="utf-8", newline="\n")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two skills, one nested, outside any project."""
    folder = tmp_path / "some skills"
    _skill(folder, "alpha")
    _skill(folder, "group/beta")
    return folder


def _lock(folder: Path, *options: str) -> Any:
    """Run `lock --json` and give its document."""
    return call("lock", str(folder), "--json", *options).json


def test_any_folder_of_skills_is_locked(folder: Path) -> None:
    """Without a pyproject.toml the folder itself is the skills folder and names the collection."""
    ran = call("lock", str(folder))
    assert (ran.code, ran.stderr) == (0, "")
    made = locks.parse((folder / "catalog.lock.json").read_bytes())
    assert [skill.path for skill in made.skills] == ["alpha", "group/beta"]
    assert "2 skills = 2 locked + 0 refused" in ran.stdout


def test_json_names_the_digests_that_the_file_has(folder: Path) -> None:
    """A program need not read the file it has just had written."""
    document = _lock(folder)
    data = (folder / "catalog.lock.json").read_bytes()
    assert document["status"] == "written"
    assert document["catalog_sha256"] == locks.catalog_sha256(data)
    assert document["git_tree"] == locks.parse(data).digests.git_tree


def test_a_current_lock_is_not_touched(folder: Path) -> None:
    """The same skills leave the file as it is, and the answer says so."""
    _lock(folder)
    before = (folder / "catalog.lock.json").stat().st_mtime_ns
    ran = call("lock", str(folder))
    assert "unchanged" in ran.stdout
    assert (folder / "catalog.lock.json").stat().st_mtime_ns == before


def test_check_of_a_current_lock_is_silent_success(folder: Path) -> None:
    """Exit 0 and `fresh`."""
    _lock(folder)
    assert _lock(folder, "--check")["status"] == "fresh"


def test_check_names_every_change_and_the_command_that_repairs_it(folder: Path) -> None:
    """Added, removed and changed files, each with its place, and this very command line."""
    _lock(folder, "--exclude", "none-such")
    _skill(folder, "gamma")
    _skill(folder, "alpha", GOOD + "More.\n")
    (folder / "group/beta/SKILL.md").rename(folder / "group/beta/notes.md")
    _skill(folder, "group/beta")
    ran = call("lock", str(folder), "--check", "--collection", "some-skills")
    assert ran.code == 1
    place = folder.as_posix()
    assert f"{place}/gamma/SKILL.md: is new and not in the lock [added]" in ran.stderr
    assert f"{place}/group/beta/notes.md: is new and not in the lock [added]" in ran.stderr
    assert f"{place}/alpha/SKILL.md: content differs from the lock [changed]" in ran.stderr
    assert (
        f"To update it, run: skills-bundle lock '{folder}' --collection some-skills" in ran.stderr
    )


def test_a_removed_file_is_named(folder: Path) -> None:
    """What the lock holds and the disk lacks is told."""
    extra = folder / "alpha/notes.md"
    extra.write_text("x", encoding="utf-8")
    _lock(folder)
    extra.unlink()
    ran = call("lock", str(folder), "--check", "--json")
    assert (ran.code, ran.json["status"]) == (1, "stale")
    assert [(row["code"], row["path"]) for row in ran.json["error"]["problems"]] == [
        ("removed", "alpha/notes.md")
    ]


def test_check_never_writes(folder: Path) -> None:
    """A stale lock stays as it was."""
    _lock(folder)
    before = (folder / "catalog.lock.json").read_bytes()
    _skill(folder, "gamma")
    call("lock", str(folder), "--check")
    assert (folder / "catalog.lock.json").read_bytes() == before


def test_check_without_a_lock_fails(folder: Path) -> None:
    """A project that never locked is not up to date."""
    ran = call("lock", str(folder), "--check")
    assert ran.code == 1
    assert "catalog.lock.json: missing" in ran.stdout
    assert f"To write it, run: skills-bundle lock '{folder}'" in ran.stderr
    assert not (folder / "catalog.lock.json").exists()


@pytest.mark.parametrize(
    ("content", "status"), [(None, "missing"), ("{", "invalid"), ("stale", "stale")]
)
def test_a_lock_that_is_not_in_place_has_no_digests(
    folder: Path, content: str | None, status: str
) -> None:
    """Those of the lock the skills would give could be taken for the file's."""
    file = folder / "catalog.lock.json"
    if content == "stale":
        _lock(folder)
        _skill(folder, "gamma")
    elif content is not None:
        file.write_text(content, encoding="utf-8")
    document = _lock(folder, "--check")
    assert (document["status"], document["catalog_sha256"]) == (status, None)
    assert "sha256" not in call("lock", str(folder), "--check").stdout


@pytest.mark.parametrize("content", ["{", "{}", "[]"])
def test_a_file_that_is_no_lock_is_named_with_every_problem(
    folder: Path, tmp_path: Path, content: str
) -> None:
    """As it was asked for, also where a problem has a place inside it."""
    target = tmp_path / "mine.json"
    target.write_text(content, encoding="utf-8")
    ran = call("lock", str(folder), "--check", "--output", str(target))
    assert ran.code == 1
    problems = [line for line in ran.stderr.splitlines() if line.startswith("  ")]
    assert problems
    assert all(line.startswith(f"  {target}:") for line in problems)


def test_converted_line_ends_are_not_repaired_by_locking(folder: Path) -> None:
    """The last line is for the case that they are meant; the error says what else to do."""
    _lock(folder)
    file = folder / "alpha/SKILL.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    ran = call("lock", str(folder), "--check")
    assert ".gitattributes" in ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("Only if you want the new line endings, run: skills-bundle lock ")


def test_a_lock_whose_line_ends_were_converted_is_not_written_anew(folder: Path) -> None:
    """Git would convert it again: the last line says so, and no command follows."""
    _lock(folder)
    file = folder / "catalog.lock.json"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    ran = call("lock", str(folder), "--check")
    assert ran.code == 1
    assert ran.stderr.splitlines()[-1] == "Otherwise every checkout converts them again."


def test_a_folder_without_skills_is_told_where_to_run(tmp_path: Path) -> None:
    """Most likely it is the wrong folder."""
    ran = call("lock", str(tmp_path))
    assert ran.code == 1
    assert "`skills-bundle lock --skills DIR`" in ran.stderr
    assert "--exclude" not in ran.stderr


def test_a_skills_folder_that_is_not_there_is_told_as_that(folder: Path) -> None:
    """No file above could be mended, and no skill was found wrong: exit 3."""
    ran = call("lock", str(folder), "--skills", "nowhere")
    assert ran.code == 3
    assert "nowhere: No such file or directory" in ran.stderr
    assert "Check that it exists" in ran.stderr


def test_a_merge_conflict_says_so(folder: Path) -> None:
    """Conflict marks are named as what they are."""
    (folder / "catalog.lock.json").write_text("<<<<<<< HEAD\n{}\n", encoding="utf-8")
    ran = call("lock", str(folder), "--check")
    assert ran.code == 1
    assert "merge conflict markers" in ran.stderr


def test_a_refused_skill_keeps_everything_from_being_written(folder: Path) -> None:
    """Exit 1, every cause with file and line at once, the good ones counted, nothing written."""
    _skill(folder, "bad", REFUSED)
    _skill(folder, "warned", WARNED)
    ran = call("lock", str(folder))
    assert ran.code == 1
    place = folder.as_posix()
    assert f"refused: {place}/bad/SKILL.md:1: " in ran.stderr
    assert f"refused: {place}/bad/SKILL.md:2: " in ran.stderr
    assert f"warning: {place}/warned/SKILL.md:4: " in ran.stderr
    assert "4 skills = 3 good + 1 refused" in ran.stdout
    assert not (folder / "catalog.lock.json").exists()


def test_refusals_are_told_to_programs_with_weight_and_place(folder: Path) -> None:
    """Found = good + refused, and each diagnostic says which it did."""
    _skill(folder, "bad", REFUSED)
    document = _lock(folder)
    assert document["status"] == "refused"
    assert document["found"] == document["good"] + len(document["refused"])
    assert document["refused"] == ["bad"]
    assert {row["weight"] for row in document["diagnostics"]} == {"refused"}
    assert document["error"]["code"] == "invalid_skills"


def test_warnings_are_told_and_do_not_refuse(folder: Path) -> None:
    """The skill is locked; the warning is on standard error with its place."""
    _skill(folder, "warned", WARNED)
    ran = call("lock", str(folder))
    assert ran.code == 0
    assert ran.stderr.startswith(f"warning: {folder.as_posix()}/warned/SKILL.md:4: ")
    assert "3 skills = 3 locked + 0 refused" in ran.stdout


def test_strict_refuses_what_has_warnings(folder: Path) -> None:
    """The same skill, and nothing is written."""
    _skill(folder, "warned", WARNED)
    ran = call("lock", str(folder), "--strict")
    assert ran.code == 1
    assert ran.stderr.startswith(f"refused: {folder.as_posix()}/warned/SKILL.md:4: ")


def test_excluded_skills_are_counted_apart(folder: Path) -> None:
    """They are neither locked nor refused, and not forgotten."""
    _skill(folder, "drafts/bad", REFUSED)
    document = _lock(folder, "--exclude", "drafts")
    assert (document["found"], document["excluded"]) == (2, ["drafts/bad"])


def test_a_folder_without_a_skill_is_reported(folder: Path) -> None:
    """The author may have forgotten the SKILL.md."""
    (folder / "notes").mkdir()
    (folder / "notes/a.md").write_text("x", encoding="utf-8")
    assert "note: notes has files but no SKILL.md" in call("lock", str(folder)).stderr


def test_output_writes_elsewhere_and_leaves_the_project_alone(folder: Path, tmp_path: Path) -> None:
    """`--output` is the only file that is written, and the one that --check compares."""
    target = tmp_path / "elsewhere.json"
    assert _lock(folder, "--output", str(target))["status"] == "written"
    assert _lock(folder, "--output", str(target), "--check")["status"] == "fresh"
    assert not (folder / "catalog.lock.json").exists()


def test_a_lock_is_the_same_wherever_it_is_made(folder: Path, tmp_path: Path) -> None:
    """Its bytes depend on the skills and the collection's name alone."""
    other = tmp_path / "moved"
    one = _lock(folder, "--collection", "demo")["catalog_sha256"]
    folder.rename(other)
    (other / "catalog.lock.json").unlink()
    assert _lock(other, "--collection", "demo")["catalog_sha256"] == one


def test_a_projects_settings_are_used(tmp_path: Path) -> None:
    """Skills folder and collection come from pyproject.toml, as in a build."""
    sample = SampleProject.create(tmp_path / "acme")
    document = _lock(sample.folder)
    assert (document["status"], document["collection"]) == ("unchanged", "acme-skills")


def test_options_go_before_settings(tmp_path: Path) -> None:
    """What is typed is meant."""
    sample = SampleProject.create(tmp_path / "acme")
    _skill(sample.folder, "more/extra")
    assert _lock(sample.folder, "--skills", "more", "--collection", "m")["collection"] == "m"


def test_wrong_settings_are_told_with_their_toml_path(tmp_path: Path) -> None:
    """Exit 2, every wrong key at once."""
    sample = SampleProject.create(tmp_path / "acme").configure("strict = 1").configure("wat = 2")
    ran = call("lock", str(sample.folder))
    assert (ran.code, ran.stdout) == (2, "")
    assert "tool.hatch.build.hooks.custom.strict" in ran.stderr
    assert "tool.hatch.build.hooks.custom.wat" in ran.stderr


def test_a_wrong_option_is_named_as_the_option(folder: Path) -> None:
    """The problem names `--skills`, not a key of a file."""
    ran = call("lock", str(folder), "--skills", "../out")
    assert (ran.code, ran.stdout) == (2, "")
    assert "  --skills: " in ran.stderr


def test_a_missing_project_is_a_usage_error(tmp_path: Path) -> None:
    """Exit 2, naming the folder."""
    ran = call("lock", str(tmp_path / "nowhere"))
    assert (ran.code, ran.stdout) == (2, "")
    assert "nowhere" in ran.stderr


def test_a_folder_that_cannot_be_written_to_names_the_lock(folder: Path, tmp_path: Path) -> None:
    """Exit 3 with the system's reason and the file that was meant."""
    target = tmp_path / "no/such/folder.json"
    ran = call("lock", str(folder), "--output", str(target))
    assert ran.code == 3
    assert f"error: {target}: No such file or directory." in ran.stderr


def test_hostile_names_reach_the_terminal_harmless(folder: Path) -> None:
    """A folder called like an escape sequence stays text."""
    _skill(folder, "bad\x1b[2J", REFUSED)
    ran = call("lock", str(folder))
    assert "\x1b" not in ran.stderr + ran.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("environ", "colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour_unless_it_is_not_wanted(
    folder: Path, environ: dict[str, str], *, colour: bool
) -> None:
    """NO_COLOR is honoured; nothing is drawn for work that ends at once."""
    ran = on_terminal("lock", str(folder), environ=environ)
    assert ("\x1b[" in ran.stdout) is colour
    assert "Reading the skills" not in ran.stdout


def test_an_ascii_stream_gets_escapes(folder: Path) -> None:
    """Names beyond ASCII come out as escapes where nothing else can be shown."""
    _skill(folder, "café", WARNED)
    ran = spawn(*("lock", str(folder)), environ={"LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict"})
    assert ran.code == 0
    assert "caf\\xe9/SKILL.md:4: " in ran.stderr
    assert ran.stdout.startswith("ok ")


def test_a_skill_named_unlike_its_folder_is_refused_with_the_way_to_allow_it(folder: Path) -> None:
    """Public collections have many; the lock records that it was allowed."""
    _skill(folder, "gamma", GOOD.replace("{name}", "other"))
    ran = call("lock", str(folder))
    assert (ran.code, "--allow name_mismatch" in ran.stderr) == (1, True)
    assert call("lock", str(folder), "--allow", "name_mismatch", "--strict").code == 0
    made = locks.parse((folder / "catalog.lock.json").read_bytes())
    assert {skill.path: skill.diagnostics for skill in made.skills} == {
        "alpha": (),
        "gamma": ("name_mismatch",),
        "group/beta": (),
    }


def test_a_refusal_that_cannot_be_allowed_has_no_such_way(folder: Path) -> None:
    """Only the listed codes can be allowed."""
    _skill(folder, "gamma", "---\nname: gamma\n---\n")
    assert "--allow" not in call("lock", str(folder)).stderr
    assert call("lock", str(folder), "--allow", "no_description").code == 2


def test_many_warnings_are_summarized_by_code_the_most_frequent_first(folder: Path) -> None:
    """A line for each code, refusals first; --verbose and --json have every one."""
    for number in range(40):
        _skill(folder, f"warned-{number}", WARNED)
    _skill(folder, "tag", GOOD.replace("What", "<b>What</b>"))
    _skill(folder, "bad", REFUSED)
    ran = call("lock", str(folder))
    lines = ran.stderr.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["refused"] * 2 + ["warning"] * 2
    assert lines[2].startswith("warning: unknown_field (40), first ")
    assert lines[3].startswith("warning: description_tag (1), first ")
    assert "--verbose" in lines[4]
    assert len(call("lock", str(folder), "--verbose").stderr.splitlines()) > 43
    assert len(_lock(folder)["diagnostics"]) == 43


@pytest.mark.parametrize("name", ["pyproject.toml", "SKILL.md", "notes.json"])
def test_output_replaces_nothing_but_a_lock_without_force(
    folder: Path, tmp_path: Path, name: str
) -> None:
    """A slip of the hand would lose a file of the project."""
    target = tmp_path / name
    target.write_text('{"name": "mine"}', encoding="utf-8")
    ran = call("lock", str(folder), "--output", str(target))
    assert (ran.code, target.read_text(encoding="utf-8")) == (2, '{"name": "mine"}')
    assert "add --force" in ran.stderr
    assert call("lock", str(folder), "--output", str(target), "--force").code == 0
    locks.parse(target.read_bytes())


def test_output_replaces_an_old_or_damaged_lock(folder: Path, tmp_path: Path) -> None:
    """A merge conflict in it is solved by a new lock."""
    target = tmp_path / "mine.json"
    target.touch()
    assert call("lock", str(folder), "--output", str(target)).code == 0
    target.write_bytes(b"<<<<<<< ours\n" + target.read_bytes())
    assert call("lock", str(folder), "--output", str(target)).code == 0
    locks.parse(target.read_bytes())


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_linked_output_is_neither_followed_nor_replaced(
    folder: Path, tmp_path: Path, force: list[str]
) -> None:
    """Where the link leads is not what was named."""
    target, real = tmp_path / "mine.json", tmp_path / "real.json"
    real.write_text("keep", encoding="utf-8")
    target.symlink_to(real)
    assert call("lock", str(folder), "--output", str(target), *force).code == 2
    assert (target.is_symlink(), real.read_text(encoding="utf-8")) == (True, "keep")


def test_a_linked_lock_is_reported_with_what_to_do(folder: Path, tmp_path: Path) -> None:
    """Running the same command again would not help."""
    (folder / "catalog.lock.json").symlink_to(tmp_path / "real.json")
    ran = call("lock", str(folder))
    assert (ran.code, "[lock_is_link]" in ran.stderr) == (1, True)
    assert "Remove the link, then run" in ran.stderr
    assert not (tmp_path / "real.json").exists()
