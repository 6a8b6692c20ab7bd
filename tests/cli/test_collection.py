"""`--collection` and `catalog collections`, in an environment that holds another package beside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.installed import install, install_beside
from tests.cli.runner import on_terminal
from tests.installed_builder import metadata_of
from tests.server.http_commands import listening
from tests.server.http_peer import post
from tests.server.peer import call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.installed import OwnInstallation

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> OwnInstallation:
    """Return our installation with Acme's beside it; no test may change it."""
    made = install(tmp_path_factory.mktemp("both") / "environment")
    install_beside(made)
    return made


@pytest.mark.parametrize(
    "words",
    [
        ["verify"],
        ["receipt", "show"],
        ["catalog", "search", "alpha"],
        ["catalog", "read", "alpha"],
        ["catalog", "overview"],
    ],
    ids=" ".join,
)
def test_each_command_answers_for_the_named_collection(
    words: list[str], both: OwnInstallation, tmp_path: Path
) -> None:
    """From any folder; the answer is of the other distribution."""
    ran = both.ask(*words, "--collection", "acme", "--json", cwd=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    said = ran.json.get("package_version") or (ran.json.get("provenance") or ran.json["package"])
    version = said if isinstance(said, str) else said.get("package_version", said.get("version"))
    assert version == "1.2.0"


def test_check_starts_the_named_server_and_compares_with_its_lock(both: OwnInstallation) -> None:
    """Exit 0, which needs the lock of that collection."""
    report = both.ask("mcp", "check", "--collection", "acme", "--json").json
    assert report["ok"] is True
    assert report["command"][-2:] == ["--collection", "acme"]
    assert report["provenance"]["package_name"] == "acme-skills"


def test_check_finds_a_server_of_another_collection_wrong(both: OwnInstallation) -> None:
    """Exit 1: the option says what it must serve."""
    line = f"{both.python} -P -m skills_bundle mcp serve --collection skills-bundle"
    ran = both.ask("mcp", "check", "--collection", "acme", "--command", line)
    assert ran.code == 1
    assert "serves a different catalog" in " ".join(ran.stdout.split())


@pytest.mark.skipif(os.name == "nt", reason="ends the server by its process group")
def test_http_serves_the_named_collection(both: OwnInstallation) -> None:
    """The same option, for a team."""
    program = [both.python, "-P", "-m", "skills_bundle", "mcp", "serve"]
    with listening([*program, "--collection", "acme", "--http", "127.0.0.1:0"]) as process:
        answer = post(process.port, call("skill_catalog_search", {}))
    assert answer.json()["result"]["structuredContent"]["provenance"]["package_name"] == (
        "acme-skills"
    )


def test_on_a_terminal_serve_names_the_check_of_its_collection(both: OwnInstallation) -> None:
    """Another check would look at another lock."""
    ran = on_terminal("mcp", "serve", "--collection", "acme", python=both.python, typed=b"\x04")
    assert ran.code == 0
    assert "skills-bundle mcp check --collection acme" in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["verify"],
        ["receipt", "show"],
        ["catalog", "search"],
        ["catalog", "overview"],
        ["catalog", "read", "alpha"],
        ["mcp", "serve"],
        ["mcp", "check"],
        ["mcp", "check", "--command", "anything"],
    ],
    ids=" ".join,
)
def test_an_unknown_collection_is_a_usage_error(words: list[str], both: OwnInstallation) -> None:
    """Exit 2 with the names there are, and nothing on standard output."""
    ran = both.ask(*words, "--collection", "nobody")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Installed: acme, skills-bundle." in ran.stderr


def test_collections_are_listed_with_what_is_known_of_them(both: OwnInstallation) -> None:
    """For programs, with a problem if one cannot be served."""
    rows = both.ask("catalog", "collections", "--json").json["collections"]
    keys = ("name", "distribution", "skills", "integrity")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("acme", "acme-skills", 2, "verified"),
        ("skills-bundle", "skills-bundle", 3, "verified"),
    ]
    assert [row["problem"] for row in rows] == [None, None]


def test_a_collection_that_cannot_be_served_is_listed_with_the_reason(tmp_path: Path) -> None:
    """On one line, under the table; and the command for it exits 3."""
    made = install(tmp_path / "environment")
    other = install_beside(made)
    other.bundle.rename(tmp_path / "gone")
    other.write_record()
    ran = made.ask("catalog", "collections")
    assert ran.code == 0
    assert ran.stdout.splitlines()[2].split() == [
        "acme",
        "acme-skills",
        "1.2.0",
        "-",
        "unavailable",
    ]
    assert "contains no bundle. Install a wheel" in ran.stderr
    for words in (["verify"], ["mcp", "serve"], ["catalog", "search"], ["receipt", "show"]):
        told = made.ask(*words, "--collection", "acme")
        assert (told.code, told.stdout) == (3, "")
        assert "contains no bundle. Install a wheel" in told.stderr


def test_a_bundle_that_is_gone_since_the_installation_differs(tmp_path: Path) -> None:
    """RECORD lists it, so building the wheel again is not the advice; a server starts."""
    made = install(tmp_path / "environment")
    install_beside(made).bundle.rename(tmp_path / "gone")
    ran = made.ask("verify", "--collection", "acme")
    assert ran.code == 1
    assert "hook" not in ran.stdout + ran.stderr
    served = made.ask("mcp", "serve", "--collection", "acme")
    assert served.code == 0
    assert "nothing can be served, and every call will say so" in served.stderr


def test_another_package_does_not_take_our_collection_away(tmp_path: Path) -> None:
    """Decision 0037: ours is the code that runs, also if `--collection` names it."""
    made = install(tmp_path / "environment")
    evil = made.site / "evil-1.dist-info"
    evil.mkdir()
    (evil / "METADATA").write_bytes(metadata_of("evil", "1"))
    text = "[skills_bundle.collections]\nskills-bundle = evil\n"
    (evil / "entry_points.txt").write_text(text, encoding="utf-8")
    ran = made.ask("verify", "--collection", "skills-bundle")
    assert ran.code == 0
    listed = made.ask("catalog", "collections")
    assert (listed.code, listed.stderr.count("evil 1 also declares")) == (0, 1)
    served = made.ask("mcp", "serve", "--collection", "skills-bundle")
    assert "evil 1 also declares" in served.stderr


@pytest.mark.parametrize(
    "words", [["search"], ["read", "alpha"], ["overview"]], ids=lambda words: words[0]
)
def test_what_cannot_be_served_names_the_command_that_looks_at_it(
    words: list[str], tmp_path: Path
) -> None:
    """`verify` alone would look at ours."""
    made = install(tmp_path / "environment")
    install_beside(made).lock.unlink()
    ran = made.ask("catalog", *words, "--collection", "acme")
    assert (ran.code, ran.stdout) == (3, "")
    assert "run `skills-bundle verify --collection acme`" in ran.stderr


def test_two_distributions_of_one_collection_are_told_once(tmp_path: Path) -> None:
    """Each has its row; asking for it exits 3 with both names."""
    made = install(tmp_path / "environment")
    other = install_beside(made)
    second = other.site / "zeta-1.dist-info"
    second.mkdir()
    (second / "METADATA").write_bytes(metadata_of("zeta", "1"))
    entry = (other.dist_info / "entry_points.txt").read_bytes()
    (second / "entry_points.txt").write_bytes(entry)
    listed = made.ask("catalog", "collections")
    assert listed.code == 0
    assert listed.stderr.count("declared by more than one") == 1
    ran = made.ask("verify", "--collection", "acme")
    assert (ran.code, ran.stdout) == (3, "")
    assert "acme-skills 1.2.0 and zeta 1" in ran.stderr


def test_a_file_and_a_collection_are_not_both_shown(both: OwnInstallation) -> None:
    """A receipt is of one of them."""
    ran = both.ask("receipt", "show", "--file", "x", "--collection", "acme")
    assert ran.code == 2
    assert "either --file or --collection" in ran.stderr


def test_a_search_is_of_every_collection_and_json_is_the_tools_answer(
    both: OwnInstallation,
) -> None:
    """Rows and provenance of each."""
    found = both.ask("catalog", "search", "alpha", "--json").json
    assert [row["collection"] for row in found["skills"]] == ["acme", "skills-bundle"]
    packages = [row["provenance"]["package_name"] for row in found["collections"]]
    assert packages == ["acme-skills", "skills-bundle"]


def test_a_search_of_several_shows_whose_each_skill_is(both: OwnInstallation) -> None:
    """A column more; with --verbose a line."""
    table = both.ask("catalog", "search", "alpha").stdout.split()
    whole = both.ask("catalog", "search", "alpha", "--verbose").stdout
    assert "Collection" in table
    assert [word for word in table if word in {"acme", "skills-bundle"}] == [
        "acme",
        "skills-bundle",
    ]
    assert whole.count("collection") == 2


def test_the_overview_is_of_every_collection(both: OwnInstallation) -> None:
    """As the tool gives it."""
    ran = both.ask("catalog", "overview")
    assert "5 skills in 2 collections" in ran.stdout
    assert '- "alpha" ("acme"):' in ran.stdout


def test_options_can_name_several_collections(both: OwnInstallation) -> None:
    """In any order; the answer has its own."""
    names = ("--collection", "skills-bundle", "--collection", "acme")
    found = both.ask("catalog", "search", *names, "--json").json
    assert [row["collection"] for row in found["collections"]] == ["acme", "skills-bundle"]


def test_a_skill_that_several_hold_is_refused_with_the_command_that_reads_one(
    both: OwnInstallation,
) -> None:
    """Exit 2: say which."""
    ran = both.ask("catalog", "read", "alpha")
    assert (ran.code, ran.stdout) == (2, "")
    assert "'alpha' is in acme and skills-bundle." in ran.stderr
    assert "`skills-bundle catalog read alpha --collection acme`" in ran.stderr


def test_a_skill_that_one_holds_is_read_without_the_option(both: OwnInstallation) -> None:
    """Whole, also when it is long."""
    ran = both.ask("catalog", "read", "long", "references/long.md")
    assert ran.code == 0
    assert ran.stdout.startswith("# Long")


@pytest.mark.parametrize("option", [(), ("--collection", "acme")])
def test_an_unknown_skill_names_the_search_that_was_meant(
    both: OwnInstallation, option: tuple[str, ...]
) -> None:
    """Of all, or of the named collection."""
    ran = both.ask("catalog", "read", "alpa", *option)
    assert ran.code == 1
    assert "Did you mean 'alpha'?" in ran.stderr
    assert f"`{' '.join(('skills-bundle catalog search', *option))}`" in ran.stderr


def test_check_compares_every_collection_with_its_lock(both: OwnInstallation) -> None:
    """Exit 0, and each is named."""
    report = both.ask("mcp", "check", "--json").json
    (compared,) = [step["detail"] for step in report["steps"] if step["name"] == "lock"]
    assert (report["ok"], report["provenance"]) == (True, None)
    assert compared.startswith("acme: sha256 ")
    assert "; skills-bundle: sha256 " in compared


def test_check_of_one_named_lock_compares_the_collection_that_is_of_it(
    both: OwnInstallation,
) -> None:
    """The others were not asked about."""
    lock = both.site / "acme_skills/.agents/catalog.lock.json"
    report = both.ask("mcp", "check", "--lock", str(lock), "--json").json
    (compared,) = [step["detail"] for step in report["steps"] if step["name"] == "lock"]
    assert report["ok"] is True
    assert compared.startswith("acme: sha256 ")
    assert "skills-bundle:" not in compared


@pytest.mark.skipif(os.name == "nt", reason="ends the server by its process group")
def test_http_serves_every_collection_and_is_healthy(both: OwnInstallation) -> None:
    """The same answers, for a team."""
    program = [both.python, "-P", "-m", "skills_bundle", "mcp", "serve"]
    with listening([*program, "--http", "127.0.0.1:0"]) as process:
        answer = post(process.port, call("skill_catalog_search", {"query": "alpha"}))
    rows = answer.json()["result"]["structuredContent"]["skills"]
    assert [row["collection"] for row in rows] == ["acme", "skills-bundle"]


def test_a_trace_of_several_begins_with_what_is_served(
    both: OwnInstallation, tmp_path: Path
) -> None:
    """Each with version, number of skills and state."""
    trace = tmp_path / "trace.jsonl"
    ran = both.ask("mcp", "serve", "--trace", str(trace))
    first = "collection acme: acme-skills 1.2.0, 2 skills, integrity verified"
    assert ran.stderr.startswith(f"skills-bundle: {first}\n")
    assert trace.read_text(encoding="utf-8").startswith(f'{{"note":"{first}"}}\n')


def test_a_damaged_collection_is_told_beside_what_is_served(tmp_path: Path) -> None:
    """Exit 0 with the other's skills, and the command that says why."""
    made = install(tmp_path / "environment")
    install_beside(made).lock.unlink()
    search, check = made.ask("catalog", "search", "alpha"), made.ask("mcp", "check", "--json")
    assert (search.code, search.stdout.count("alpha")) == (0, 2)
    assert "acme cannot be served. To see why, run `skills-bundle verify --collection acme`." in (
        search.stderr
    )
    assert check.code == 3
    missing = made.ask("catalog", "read", "gamma")
    assert (missing.code, "verify --collection acme" in missing.stderr) == (3, True)
