"""Tests of the collection as a whole: valid, locked, linked, found."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from typing import TYPE_CHECKING

import pytest

from skills_bundle.bundle import assemble
from skills_bundle.catalog import search
from skills_bundle.project import project, settings
from skills_bundle.skills.model import FileFacts
from skills_bundle.skills.rules import Policy
from skills_bundle.skills.scan import scan
from tests.skills_collection.collection import (
    MARKDOWN,
    NAMES,
    PROJECT,
    SCRIPTS,
    SKILLS,
    fences,
    page_id,
    reference_problems,
    run,
    start,
)

if TYPE_CHECKING:
    from pathlib import Path

KEY_WORDS = {
    "debugging-an-mcp-server": ("time-out", "stdout", "Inspector"),
    "publishing-skills-as-a-wheel": ("publish", "release", "catalog.lock.json"),
    "reproducible-python-wheels": ("SOURCE_DATE_EPOCH", "bit for bit", "setuptools"),
    "reviewing-agent-skills": ("review", "audit", "prompt-injection"),
    "setting-up-an-mcp-client": ("uvx", "Claude Code", "mcp.json"),
    "skill-descriptions-that-get-found": ("triggered", "description", "overlap"),
    "verifying-skill-provenance": ("commit", "supply-chain", "was it changed"),
    "writing-agent-skills": ("create", "frontmatter", "SKILL.md"),
}
"""What people would look for, word for word."""


def test_the_collection_holds_exactly_the_skills_we_mean() -> None:
    """No skill is lost and none slips in."""
    assert sorted(path.name for path in SKILLS.iterdir()) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_valid_for_the_reference_validator(name: str) -> None:
    """The Agent Skills specification's own reader has nothing to say."""
    assert reference_problems(SKILLS / name) == []


def test_every_skill_passes_our_strict_scan_without_a_diagnostic() -> None:
    """What we ask of others holds for us, warnings included."""
    result = scan(SKILLS, FileFacts(), policy=Policy(strict=True))
    assert result.refused == ()
    assert [(skill.name, skill.diagnostics) for skill in result.skills] == [(n, ()) for n in NAMES]


def test_nothing_lies_between_the_skills() -> None:
    """Every file of the folder belongs to a skill."""
    result = scan(SKILLS, FileFacts())
    assert (result.without_skill_md, result.unlocked) == ((), ())


def test_the_committed_lock_is_what_the_skills_give_now() -> None:
    """A change of a skill comes with its lock."""
    lock, _ = project.check_lock(project.load(PROJECT))
    assert [skill.name for skill in lock.skills] == list(NAMES)


@pytest.mark.parametrize("page", MARKDOWN, ids=page_id)
def test_every_local_link_leads_to_a_file_of_the_same_skill(page: Path) -> None:
    """A skill may be installed alone, so a link never leaves it."""
    skill = SKILLS / page.relative_to(SKILLS).parts[0]
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]
    aims = [(page.parent / target).resolve() for target in links]
    assert [aim for aim in aims if not (aim.is_file() and aim.is_relative_to(skill))] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_skill_is_named_in_its_skill_md(name: str) -> None:
    """A file that nothing leads to is never opened."""
    text = (SKILLS / name / "SKILL.md").read_text(encoding="utf-8")
    files = [path for path in (SKILLS / name).rglob("*") if path.is_file()]
    names = [path.relative_to(SKILLS / name).as_posix() for path in files]
    assert [path for path in names if path != "SKILL.md" and f"({path})" not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_found_by_the_words_people_use(name: str) -> None:
    """Our own catalog search gives it for each of three words."""
    entries = search.index(assemble.lock("ours", scan(SKILLS, FileFacts())), "ours")
    found = {word: [row.name for row in search.matches(entries, word)] for word in KEY_WORDS[name]}
    assert [word for word, names in found.items() if name not in names] == []


def test_every_request_is_won_by_its_skill() -> None:
    """By names and descriptions alone, as the skill on descriptions advises to test."""
    requests = PROJECT / "tests" / "skills_collection" / "requests.tsv"
    ran = run(
        "skill-descriptions-that-get-found/rank_descriptions.py", SKILLS, "--requests", requests
    )
    assert ran.stdout == "25 requests: 25 first, 25 in the first three\n"


@pytest.mark.parametrize("name", NAMES)
def test_our_own_reviewer_finds_no_fault(name: str) -> None:
    """The script we give to reviewers is content with us."""
    ran = run("reviewing-agent-skills/review_skill.py", SKILLS / name)
    assert ran.code == 0, ran.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_explains_itself(script: Path, tmp_path: Path) -> None:
    """`--help` works from any folder and without anything installed."""
    ran = start(f"{script.parents[1].name}/{script.name}", "--help", cwd=tmp_path)
    assert (ran.code, ran.stderr, ran.stdout[:6]) == (0, "", "usage:")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_can_be_started_by_its_name(script: Path) -> None:
    """It is locked as executable and says what runs it."""
    committed = json.loads((PROJECT / "catalog.lock.json").read_bytes())
    skill = next(row for row in committed["skills"] if row["name"] == script.parents[1].name)
    row = next(row for row in skill["files"] if row["path"] == f"scripts/{script.name}")
    assert (row["executable"], script.read_bytes()[:22]) == (True, b"#!/usr/bin/env python3")
    assert os.access(script, os.X_OK)


def _commands() -> list[tuple[Path, list[str]]]:
    """Return every command in a shell block that runs one of the skill's own scripts."""
    found: list[tuple[Path, list[str]]] = []
    for page in MARKDOWN:
        for block in [*fences(page, "bash"), *fences(page, "text")]:
            lines = block.replace("\\\n", " ").splitlines()
            ours = [line for line in lines if line.startswith("python scripts/")]
            found += [(page, shlex.split(line)) for line in ours]
    return found


@pytest.mark.parametrize(("page", "words"), _commands())
def test_a_command_in_the_text_has_a_script_that_knows_its_options(
    page: Path, words: list[str]
) -> None:
    """Nobody types a command from a skill and is told that there is no such option."""
    skill = page.relative_to(SKILLS).parts[0]
    ours = words[2 : words.index("--")] if "--" in words else words[2:]
    verbs = [word for word in ours[:1] if word in {"show", "check", "list"}]
    ran = run(f"{skill}/{words[1].removeprefix('scripts/')}", *verbs, "--help")
    options = [word for word in ours if word.startswith("--")]
    assert (ran.code, [option for option in options if option not in ran.stdout]) == (0, [])


def test_commands_were_found_in_the_text_at_all() -> None:
    """The test above would pass if its search broke."""
    assert len(_commands()) > len(SCRIPTS)


@pytest.mark.parametrize("page", MARKDOWN, ids=page_id)
def test_every_json_and_toml_block_can_be_parsed(page: Path) -> None:
    """What is there to be copied is complete."""
    parsed = [json.loads(block) for block in fences(page, "json")]
    parsed += [tomllib.loads(block) for block in fences(page, "toml")]
    assert all(isinstance(value, dict) for value in parsed)


def test_the_project_to_copy_has_settings_that_the_hook_accepts() -> None:
    """Our reader of settings takes the template whole."""
    template = SKILLS / "publishing-skills-as-a-wheel" / "assets" / "pyproject.toml"
    found = settings.read(template)
    assert (found.package, found.strict, found.source_ref) == (
        "acme_skills",
        True,
        "refs/tags/v{version}",
    )


def test_the_skill_on_publishing_names_every_setting_once() -> None:
    """The table cannot lag behind the code."""
    page = SKILLS / "publishing-skills-as-a-wheel" / "references" / "settings.md"
    named = re.findall(r"^\| `([a-z-]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(settings.KEYS)
