"""The JSON Schemas: current, valid themselves, and of one mind with the readers."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

import jsonschema
import pytest

from skills_bundle.bundle import lock, receipt
from skills_bundle.errors import SkillsBundleError
from tests.bundle import schemas as schema
from tests.bundle.vectors import Vector, name, vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonschema.protocols import Validator

SCHEMAS = {"lock": schema.lock_schema(), "receipt": schema.receipt_schema()}
READERS: dict[str, Callable[[bytes], object]] = {"lock": lock.parse, "receipt": receipt.parse}
STRUCTURAL = [
    pytest.param(kind, vector, id=f"{kind}-{name(vector)}")
    for kind in SCHEMAS
    for vector in vectors(kind)
    if vector.structural
]


def validator(kind: str) -> Validator:
    """Return jsonschema's reader of a schema."""
    return jsonschema.Draft202012Validator(SCHEMAS[kind])


@pytest.mark.parametrize("file", schema.files())
def test_checked_in_schemas_are_what_the_models_give(file: str) -> None:
    """To renew one: write what `schema.files()` gives into `skills_bundle/schemas/`."""
    found = resources.files("skills_bundle") / "schemas" / file
    assert found.read_bytes() == schema.files()[file]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_are_valid_in_their_own_dialect(kind: str) -> None:
    """JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    assert SCHEMAS[kind]["$schema"] == schema.DIALECT


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schemas_say_who_they_are(kind: str) -> None:
    """By a name, a title, a sentence."""
    assert {"$id", "title", "description"} <= SCHEMAS[kind].keys()


@pytest.mark.parametrize(("kind", "vector"), STRUCTURAL)
def test_jsonschema_agrees_on_every_structural_vector(kind: str, vector: Vector) -> None:
    """The second reader."""
    assert validator(kind).is_valid(json.loads(vector.data)) == vector.accept


@pytest.mark.parametrize(("kind", "vector"), STRUCTURAL)
def test_the_reader_agrees_on_every_structural_vector(kind: str, vector: Vector) -> None:
    """The first one."""
    try:
        READERS[kind](vector.data)
    except SkillsBundleError:
        assert not vector.accept
    else:
        assert vector.accept


@pytest.mark.parametrize(
    "vector",
    [row for row in vectors("lock") if not row.structural and row.code == "rendering"],
    ids=name,
)
def test_what_is_beyond_a_schema_it_lets_through(vector: Vector) -> None:
    """So that nobody takes the schema for the whole check."""
    assert validator("lock").is_valid(json.loads(vector.data))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_object_is_closed(kind: str) -> None:
    """And every key is required: there is one rendering."""
    whole = json.loads(json.dumps(SCHEMAS[kind]))
    objects = [whole, *whole["$defs"].values()]
    closed = [row for row in objects if "properties" in row]
    assert all(row["additionalProperties"] is False for row in closed)
    assert all(sorted(row["required"]) == sorted(row["properties"]) for row in closed)
