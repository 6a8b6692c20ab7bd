"""The JSON Schemas of lock and receipt, made from the models that read them.

A schema says less than the reader does: order, uniqueness, NFC, digests and `4.0` are beyond it.
What it can say it says, so that another language's validator is a second, independent reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from skills_bundle.bundle.lock import CatalogLock
from skills_bundle.bundle.receipt import BuildReceipt
from skills_bundle.formats import strict_json

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.formats.record import Record

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
LOCK_SCHEMA_FILE: Final = "catalog.lock.schema.json"
RECEIPT_SCHEMA_FILE: Final = "build-receipt.schema.json"


def lock_schema() -> dict[str, JsonValue]:
    """Return the JSON Schema (2020-12) of `catalog.lock.json`."""
    return _schema(
        CatalogLock,
        "urn:skills-bundle:schema:catalog-lock:1",
        "The lock of a collection of agent skills: what its bundle must contain.",
    )


def receipt_schema() -> dict[str, JsonValue]:
    """Return the JSON Schema (2020-12) of `build-receipt.json`."""
    return _schema(
        BuildReceipt,
        "urn:skills-bundle:schema:build-receipt:1",
        "The unsigned record of a build of a collection of agent skills.",
    )


def files() -> dict[str, bytes]:
    """Return both schemas as the files in `skills_bundle/schemas/`, by name."""
    return {
        LOCK_SCHEMA_FILE: strict_json.pretty(lock_schema()),
        RECEIPT_SCHEMA_FILE: strict_json.pretty(receipt_schema()),
    }


def _schema(model: type[Record], identifier: str, description: str) -> dict[str, JsonValue]:
    # "serialization": a key with a default is still always there in the bytes.
    body = _without_titles(cast("JsonValue", model.model_json_schema(mode="serialization")))
    if not isinstance(body, dict):  # pragma: no cover - a record is an object
        raise TypeError(body)
    head: dict[str, JsonValue] = {"$schema": DIALECT, "$id": identifier, "title": model.__name__}
    return {**head, **body, "description": description}


def _without_titles(value: JsonValue) -> JsonValue:
    """Drop the titles and defaults pydantic adds: they repeat a key's name and mislead."""
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: item
        for key, item in value.items()
        if key not in {"title", "default"} or isinstance(item, dict)
    }
    return {key: _without_titles(item) for key, item in kept.items()}
