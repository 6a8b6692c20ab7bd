"""`mcp check`: what a client sees of a server that works, and of those that do not."""

from __future__ import annotations

import json
import subprocess
import sys
import zipapp
from typing import TYPE_CHECKING, Any

import pytest

from skills_bundle.errors import InvalidLockError
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.server import limits
from skills_bundle.server.check import run as check
from skills_bundle.server.check.steps import LockOnDisk, read_named
from tests.installed_builder import Installation, InstalledBuilder, lock_of
from tests.server.commands import ENVIRONMENT, INSTALLED, ODD

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.server.check.report import Step


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Return an installation to serve."""
    return InstalledBuilder().install(tmp_path)


@pytest.fixture
def lock_beside(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Make that installation's lock the one that `check` reads."""

    def read() -> LockOnDisk:
        data = installation.lock.read_bytes()
        value = InstalledBuilder().lock.model_dump(mode="json")
        return LockOnDisk(installation.lock, sha256_hex(data), value)

    monkeypatch.setattr(check, "read_lock", read)
    return installation


def serving(installation: Installation) -> list[str]:
    """Return the command that serves it."""
    return [*INSTALLED, str(installation.site)]


def python(code: str) -> list[str]:
    """Return the command of a program that is not a server."""
    return [sys.executable, "-c", code]


def test_a_server_that_works_passes_every_step(lock_beside: Installation) -> None:
    """From its start to the overview, compared with the lock on disk."""
    report = check.run_check(serving(lock_beside))
    seen = [(step.name, step.verdict) for step in report.steps]
    names = ("start", "tools", "search", "read", "lock", "skills", "overview")
    assert (seen, report.exit_code) == ([(name, "ok") for name in names], 0)


def test_progress_is_reported_step_by_step(lock_beside: Installation) -> None:
    """A person sees that something happens."""
    reported: list[Step] = []
    report = check.run_check(serving(lock_beside), reported.append)
    assert tuple(reported) == report.steps


def test_the_report_shows_the_provenance(lock_beside: Installation) -> None:
    """As the server claims it."""
    provenance = check.run_check(serving(lock_beside)).provenance
    assert provenance is not None
    assert provenance["collection"] == "acme-skills"


def test_a_text_that_is_not_the_locked_one_is_wrong(
    lock_beside: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1: the server's own claims agree with each other, the lock does not."""

    def read() -> LockOnDisk:
        data = lock_beside.lock.read_bytes()
        other = InstalledBuilder(skills={"alpha": {"SKILL.md": b"other"}}).lock
        return LockOnDisk(lock_beside.lock, sha256_hex(data), other.model_dump(mode="json"))

    monkeypatch.setattr(check, "read_lock", read)
    report = check.run_check(serving(lock_beside))
    assert (report.steps[-1].name, report.exit_code) == ("lock", 1)


def test_a_server_of_another_catalog_cannot_be_told(installation: Installation) -> None:
    """Exit code 3: nothing is wrong that we know of."""
    assert check.run_check(serving(installation)).exit_code == 3


def test_a_named_lock_is_what_the_server_must_serve(installation: Installation) -> None:
    """Exit code 0 with its own lock, wherever that lies."""
    lock = read_named(installation.lock)
    assert check.run_check(serving(installation), lock=lock).exit_code == 0


def test_another_catalog_than_the_named_lock_is_wrong(
    installation: Installation, tmp_path: Path
) -> None:
    """Exit code 1: the caller said what it has to be."""
    other = tmp_path / "other.lock.json"
    other.write_bytes(lock_of({"beta": {"SKILL.md": b"x"}}).to_bytes())
    report = check.run_check(serving(installation), lock=read_named(other))
    assert (report.steps[-1].name, report.exit_code) == ("lock", 1)
    assert str(other) in report.steps[-1].detail


def test_a_named_file_that_is_no_lock_is_refused_with_its_name(tmp_path: Path) -> None:
    """Every problem, each with the file as the caller called it."""
    file = tmp_path / "mine.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(InvalidLockError) as raised:
        read_named(file)
    assert [(row.path, row.line) for row in raised.value.problems] == [(str(file), 1)]


def test_the_server_gets_the_variables_it_is_given() -> None:
    """And the report names every variable it has."""
    code = "import os, sys; sys.exit(os.environ['UV_FIND_LINKS'])"
    report = check.run_check(python(code), environment={"UV_FIND_LINKS": "wheels"})
    assert report.stderr_tail == "wheels"
    assert {"PATH", "UV_FIND_LINKS"} <= set(report.environment)


def test_the_server_gets_no_other_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under many hosts, what the caller's shell exports does not reach it."""
    monkeypatch.setenv("UV_FIND_LINKS", "wheels")
    code = "import os, sys; sys.exit(os.environ.get('UV_FIND_LINKS', 'none'))"
    assert check.run_check(python(code)).stderr_tail == "none"


def test_a_catalog_that_is_unavailable_cannot_be_told(installation: Installation) -> None:
    """The tools say so, and so does the report."""
    installation.lock.unlink()
    report = check.run_check(serving(installation))
    assert ("catalog_unavailable" in report.problems[0], report.exit_code) == (True, 3)


def test_a_server_that_dies_is_wrong_and_its_last_words_are_shown() -> None:
    """Not a time-out."""
    report = check.run_check(python("import sys; sys.exit('no such module: acme')"))
    assert (report.exit_code, report.stderr_tail) == (1, "no such module: acme")


def test_a_server_that_prints_is_wrong_at_once() -> None:
    """What is on standard output must be protocol; what was there instead is in the report."""
    report = check.run_check(python("print('Welcome!', flush=True); input(); input()"))
    assert "not JSON-RPC" in report.steps[0].detail
    assert report.stdout_line == "Welcome!"


def test_a_program_that_prints_and_ends_is_reported_alike() -> None:
    """Whether it reads its input or not: `echo` is no server."""
    report = check.run_check(python("print('Welcome!')"))
    assert ("not JSON-RPC" in report.steps[0].detail, report.stdout_line) == (True, "Welcome!")


def test_a_server_that_does_not_answer_is_wrong_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is bounded."""
    monkeypatch.setattr(limits, "CHECK_STEP_SECONDS", 0.2)
    report = check.run_check(python("import sys; sys.stdin.read()"))
    assert report.steps[0].detail == "No answer within 0.2 seconds."


def test_a_command_that_does_not_exist_is_wrong() -> None:
    """The system's reason is shown."""
    report = check.run_check(["no-such-program-anywhere"])
    assert report.problems == (
        "start: no-such-program-anywhere cannot be started: No such file or directory.",
    )


def test_bytes_that_are_no_text_are_named_as_such() -> None:
    """Not as an answer of a wrong form."""
    code = "import os; os.write(1, b'\\xff\\n'); input(); input()"
    report = check.run_check(python(code))
    assert report.steps[0].detail == "The server wrote bytes to standard output that are not UTF-8."


def test_a_line_without_end_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cat /dev/zero` is no server, and must not cost the memory of this machine."""
    monkeypatch.setattr(limits, "CHECK_LINE_MAX_BYTES", 1 << 20)
    monkeypatch.setattr(limits, "CHECK_STEP_SECONDS", 2.0)
    code = "import os\nwhile True: os.write(1, bytes(65536))"
    report = check.run_check(python(code))
    assert report.steps[0].detail == "The server wrote a line of more than 1,048,576 bytes."


def test_only_the_end_of_what_a_server_says_is_read() -> None:
    """However much it wrote."""
    report = check.run_check(python("import sys; sys.exit('x' * 100_000 + 'end')"))
    assert report.stderr_tail.endswith("xend")
    assert len(report.stderr_tail) == limits.CHECK_STDERR_TAIL_BYTES - 1  # and a line feed


def test_what_is_no_text_is_escaped_in_the_report() -> None:
    """Arguments are bytes; the report is JSON."""
    report = check.run_check(["no-such-program", "\udcff"])
    assert strict_json.pretty(report.to_dict())
    assert report.to_dict()["command"] == ["no-such-program", "\\xff"]


FOREIGN = """
import json, sys
def say(message, **result):
    row = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    print(json.dumps(row), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method = message["method"]
    if "id" not in message:
        continue
    if method == "initialize":
        info = {"name": "x" * 100_000, "version": "1"}
        say(message, protocolVersion="2025-11-25", capabilities={"tools": {}}, serverInfo=info)
    elif method == "tools/list":
        names = ["skill_catalog_search", "skill_resource_read", "skill_catalog_overview"]
        say(message, tools=[{"name": n, "inputSchema": {"type": "object"}} for n in names])
    elif method != "tools/call":
        row = {"code": -32601, "message": "?"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": row}), flush=True)
    elif message["params"]["name"] == "skill_catalog_search":
        row = {"name": "a", "path": "a"}
        found = {"provenance": {"x": PROVENANCE}, "skills": [row], "total": 1}
        say(message, content=[], structuredContent=found)
    else:
        offset = message["params"]["arguments"]["offset"]
        page = {"content": "x" * 100, "byte_length": 250, "content_sha256": ""}
        page["next_offset"] = offset + 100
        say(message, content=[], structuredContent=page)
"""


def foreign(provenance: str) -> list[str]:
    """Return a server that claims this, and whose pages have no end."""
    return python(FOREIGN.replace("PROVENANCE", provenance))


@pytest.mark.parametrize("claim", ["float('nan')", "'\\ud800'"])
def test_what_is_not_json_is_an_answer_of_a_wrong_form(claim: str) -> None:
    """Though Python writes and reads it: the report must stay JSON."""
    report = check.run_check(foreign(claim))
    assert (report.steps[-1].name, report.provenance) == ("search", None)
    assert strict_json.pretty(report.to_dict())


def test_pages_without_end_are_stopped_at_what_they_claim() -> None:
    """And no more of them is held."""
    report = check.run_check(foreign("1"))
    assert report.steps[-1].detail == "The pages have more than the 250 bytes they claim."


def test_a_step_tells_no_more_than_fits_a_screen() -> None:
    """A server's name may be endless."""
    report = check.run_check(foreign("1"))
    assert len(report.steps[0].detail) == limits.CHECK_DETAIL_MAX_CHARACTERS


def test_a_server_of_other_tools_is_wrong() -> None:
    """It is not ours."""
    report = check.run_check(ODD)
    assert report.steps[-1].detail.startswith("Not offered: skill_catalog_search")


def test_the_report_for_programs_is_json_values(lock_beside: Installation) -> None:
    """Every field, by name."""
    assert list(check.run_check(serving(lock_beside)).to_dict()) == [
        "ok",
        "command",
        "steps",
        "provenance",
        "collections",
        "problems",
        "stderr_tail",
        "stdout_line",
        "environment",
    ]


@pytest.mark.parametrize("skill", ["alpha", "group/beta"])
def test_an_altered_file_is_wrong_whichever_skill_has_it(
    lock_beside: Installation, skill: str
) -> None:
    """Exit code 1, and the report says why, although other skills are served as they are locked."""
    (lock_beside.skills / skill / "SKILL.md").write_bytes(b"altered")
    report = check.run_check(serving(lock_beside))
    assert (report.steps[-1].name, report.exit_code) == ("search", 1)
    assert "altered since the installation" in report.problems[0]


def test_a_file_that_the_lock_does_not_list_is_wrong(lock_beside: Installation) -> None:
    """As `verify` says."""
    (lock_beside.skills / "alpha" / "more.md").write_bytes(b"x")
    report = check.run_check(serving(lock_beside))
    assert ("does not list" in report.problems[0], report.exit_code) == (True, 1)


BARE_PYTHON = getattr(sys, "_base_executable", sys.executable)
"""An interpreter that does not find this project's packages."""
CARRYING = f"""
import site, sys
before = sys.path[:]
for folder in {[path for path in sys.path if path.endswith("site-packages")]!r}:
    site.addsitedir(folder)
sys.path[:] = [*(path for path in sys.path if path not in before), *before]
from skills_bundle.cli.main import main
main()
"""
"""A program that finds its packages where no other Python does."""


def checked_by(*program: str, folder: Path) -> tuple[int, dict[str, Any]]:
    """Run the program's own `mcp check`; return the exit code and the report."""
    done = subprocess.run(
        [*program, "mcp", "check", "--json"],
        capture_output=True,
        cwd=folder,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_program_that_carries_its_packages_starts_itself(tmp_path: Path) -> None:
    """As zipapp, shiv and PEX do."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "__main__.py").write_text(CARRYING, encoding="utf-8")
    archive = tmp_path / "app.pyz"
    zipapp.create_archive(source, archive)
    code, report = checked_by(BARE_PYTHON, archive.name, folder=tmp_path)
    command = report["command"][1:4]
    assert (command, report["steps"][0]["verdict"]) == ([str(archive), "mcp", "serve"], "ok")
    assert code in {0, 3}  # a package in its source may be older or newer than its lock


def test_a_program_that_cannot_start_itself_says_so(tmp_path: Path) -> None:
    """Nothing is known about its server then: exit code 3."""
    code, report = checked_by(BARE_PYTHON, "-c", CARRYING, folder=tmp_path)
    assert code == 3
    assert "cannot start itself again" in report["problems"][0]
