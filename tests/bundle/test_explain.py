"""What each provenance field rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle.provenance import BASES, Provenance, SourceProvenance, explain
from tests import odd_files
from tests.installed_builder import COMMIT, InstalledBuilder

if TYPE_CHECKING:
    from pathlib import Path


def test_every_field_of_the_block_is_explained() -> None:
    """In the order of the block, the three claims one by one."""
    fields = [
        name
        for field in Provenance.model_fields
        for name in (
            [f"{field}.{inner}" for inner in SourceProvenance.model_fields]
            if field == "source_provenance"
            else [field]
        )
    ]
    assert list(BASES) == fields


def test_an_explanation_carries_the_value(tmp_path: Path) -> None:
    """As the answers carry it."""
    made = InstalledBuilder(reason="dirty_source").install(tmp_path)
    odd_files.remove(made.record)
    values = {row.field: row.value for row in explain(made.verify())}
    assert values["package_name"] == "acme-skills"
    assert values["resolved_git_sha"] is None
    assert values["source_provenance.integrity"] == "verified"
    assert values["gaps"] == "dirty_source, record_absent"


def test_no_gaps_is_no_value(tmp_path: Path) -> None:
    """Rather than an empty text."""
    values = {
        row.field: row.value for row in explain(InstalledBuilder().install(tmp_path).verify())
    }
    assert (values["gaps"], values["resolved_git_sha"]) == (None, COMMIT)


def test_without_a_block_the_basis_is_still_explained(tmp_path: Path) -> None:
    """A lock that is not believed leaves every value null."""
    made = InstalledBuilder().install(tmp_path)
    odd_files.remove(made.lock)
    rows = explain(made.verify())
    assert [row.value for row in rows] == [None] * len(BASES)
    assert all(row.checked and row.asserted and row.not_proved for row in rows)
