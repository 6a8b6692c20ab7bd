"""What the code promises stands in the reference: fields, codes, limits, commands, tools."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING, cast

import pytest

from skills_bundle.bundle import lock, provenance, receipt
from skills_bundle.catalog.model import MESSAGES
from skills_bundle.cli.main import commands
from skills_bundle.project import settings
from skills_bundle.server.tools import ToolContext, catalog
from skills_bundle.skills.codes import CODES
from skills_bundle.wiring import open_catalog
from tests.repository.pages import ROOT, page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skills_bundle.formats.record import Record

pytestmark = pytest.mark.slow


def _missing(name: str, words: Iterable[str]) -> list[str]:
    """Return the words in no code span of a page, whole or as part of a dotted path."""
    spans = re.findall(r"`([^`\n]+)`", page(name).text)
    known = {part for span in spans for part in re.split(r"[.\[\] ]+", span)} | set(spans)
    return sorted(set(words) - known)


def _problem_codes() -> set[str]:
    """Return every code that the sources give a problem as a literal."""
    calls = [
        node
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]
    named = [each.value for call in calls for each in call.keywords if each.arg == "code"]
    makers = {"_problem", "_refuse", "_altered"}
    given = [each for call in calls if ast.unparse(call.func) in makers for each in call.args]
    values = {each.value for each in (*named, *given) if isinstance(each, ast.Constant)}
    return {value for value in values if isinstance(value, str) and re.fullmatch("[a-z_]+", value)}


def test_the_generated_regions_are_current() -> None:
    """`docs/generate.py --check` finds nothing to write: the pages are what the code says."""
    command = [sys.executable, "docs/generate.py", "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, encoding="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    "record",
    [
        lock.CatalogLock,
        lock.Algorithms,
        lock.Digests,
        lock.UnlockedEntry,
        lock.LockedSkill,
        lock.LockedFile,
    ],
)
def test_every_field_of_the_lock_is_documented(record: type[Record]) -> None:
    """A reader of a lock finds each key in the reference."""
    assert _missing("docs/reference/lock-format.md", record.model_fields) == []


@pytest.mark.parametrize(
    "record",
    [
        receipt.BuildReceipt,
        receipt.Package,
        receipt.CatalogClaim,
        receipt.Inputs,
        receipt.Asserted,
        receipt.Source,
    ],
)
def test_every_field_of_the_receipt_is_documented(record: type[Record]) -> None:
    """A reader of a receipt finds each key in the reference."""
    assert _missing("docs/reference/receipt-format.md", record.model_fields) == []


def test_every_reason_of_a_receipt_is_documented() -> None:
    """A receipt without a commit says why, in a code that can be looked up."""
    assert _missing("docs/reference/receipt-format.md", receipt.REASONS) == []


def test_every_field_and_gap_of_provenance_is_documented() -> None:
    """So does an answer."""
    words = {
        *provenance.Provenance.model_fields,
        *provenance.SourceProvenance.model_fields,
        *provenance.GAPS,
    }
    assert _missing("docs/reference/provenance.md", words) == []


def test_every_code_of_a_problem_is_documented() -> None:
    """A code in a report of any command can be looked up."""
    assert _missing("docs/reference/errors.md", _problem_codes() - set(CODES)) == []


def test_every_code_of_a_tool_is_documented() -> None:
    """So can one in an answer."""
    assert _missing("docs/reference/errors.md", MESSAGES) == []


def test_every_diagnostic_code_is_documented() -> None:
    """A code in a report can be looked up."""
    assert _missing("docs/reference/diagnostics.md", CODES) == []


def test_every_limit_is_documented() -> None:
    """Every limit of every package has a row in the reference."""
    modules = [
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in (ROOT / "src").rglob("limits.py")
    ]
    names = [
        name
        for module in modules
        for name in vars(importlib.import_module(module))
        if name.isupper() and name not in {"KIB", "MIB"}
    ]
    assert len(modules) > 1
    assert _missing("docs/reference/limits.md", names) == []


def test_every_setting_is_documented() -> None:
    """A key that the hook reads can be found."""
    assert _missing("docs/reference/settings.md", settings.KEYS) == []


def test_every_command_is_documented() -> None:
    """Each command has a section of its own."""
    headings = page("docs/reference/cli.md").text.splitlines()
    assert [words for words, _ in commands() if f"## `{' '.join(words)}`" not in headings] == []


def test_every_option_is_documented() -> None:
    """So has each option, in the section of its command."""
    text = page("docs/reference/cli.md").text
    missing = [
        f"{' '.join(words)} {name}"
        for words, command in commands()
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("--") and name not in text.split(f"## `{' '.join(words)}`\n")[1]
    ]
    assert missing == []


def test_every_tool_and_argument_is_documented() -> None:
    """A host's author reads the reference and not our code."""
    tools = catalog.tools(ToolContext(catalog=open_catalog()))
    words = {tool.name for tool in tools}
    words |= {name for tool in tools for name in tool.arguments.model_fields}
    words |= {name for tool in tools for name in tool.result.model_fields}
    assert _missing("docs/reference/tools.md", words) == []


def test_every_integer_argument_of_a_tool_is_published_with_a_bound() -> None:
    """A bound that only our own validator knows would surprise whoever reads the schema."""
    published = [
        (tool.name, name, value)
        for tool in catalog.tools(ToolContext(catalog=open_catalog()))
        for name, value in cast(
            "dict[str, dict[str, object]]", tool.input_schema["properties"]
        ).items()
        if value["type"] == "integer"
    ]
    assert published
    assert [row for row in published if "minimum" not in row[2]] == []
