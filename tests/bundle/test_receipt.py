"""The build receipt: closed, consistent with itself, and sensitive to every bit."""

from __future__ import annotations

import json

import pytest

from skills_bundle.bundle import limits, receipt
from skills_bundle.errors import InvalidReceiptError
from skills_bundle.formats import strict_json
from tests.builders import sample_receipt
from tests.bundle.vectors import VECTORS, Vector, name, vectors

ALL = vectors("receipt")


def refusal(data: bytes) -> InvalidReceiptError:
    """Return the error that reading must raise."""
    with pytest.raises(InvalidReceiptError) as caught:
        receipt.parse(data)
    return caught.value


@pytest.mark.parametrize("vector", [row for row in ALL if row.accept], ids=name)
def test_valid_receipts_are_read_and_written_to_the_same_bytes(vector: Vector) -> None:
    """Reading and writing are one."""
    assert receipt.parse(vector.data).to_bytes() == vector.data


@pytest.mark.parametrize("vector", [row for row in ALL if not row.accept], ids=name)
def test_each_fault_is_refused_with_its_code(vector: Vector) -> None:
    """Each vector has one fault, and no other is reported."""
    codes = {problem.code for problem in refusal(vector.data).problems}
    assert codes == ({vector.code} if vector.code else set())


def test_every_vector_is_in_the_manifest() -> None:
    """None lies about unused."""
    files = {path.name for path in (VECTORS / "receipt").glob("*.json")} - {"manifest.json"}
    assert files == {vector.path.name for vector in ALL}


@pytest.mark.parametrize("state", ["clean", "dirty", "archive"])
def test_every_single_bit_flip_is_refused(state: receipt.State) -> None:
    """All of them: by the grammar, the form, the one rendering or the digest of the fields."""
    data = bytearray(sample_receipt(state).to_bytes())
    unnoticed: list[int] = []
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        try:
            receipt.parse(bytes(data))
        except InvalidReceiptError:
            pass
        else:
            unnoticed.append(bit)
        data[bit // 8] ^= 1 << bit % 8
    assert unnoticed == []


def test_a_coherent_rewrite_is_read() -> None:
    """It must be: nothing here is signed."""
    value = json.loads(sample_receipt().to_bytes())
    value["source"]["commit"] = "5" * 40
    del value["fields_sha256"]
    forged = receipt.BuildReceipt.model_validate_json(
        strict_json.pretty({**value, "fields_sha256": "0" * 64})
    )
    sealed = forged.model_copy(update={"fields_sha256": receipt.fields_sha256(forged)})
    assert receipt.parse(sealed.to_bytes()).source.commit == "5" * 40


def test_all_problems_come_at_once() -> None:
    """With their places."""
    value = json.loads(sample_receipt().to_bytes())
    value["package"]["name"] = ""
    value["source"]["commit"] = "x"
    value["host"] = "here"
    found = [problem.path for problem in refusal(json.dumps(value).encode()).problems]
    assert found == ["package.name", "source.commit", "host"]


def test_contradictions_come_at_once() -> None:
    """With their places."""
    parts = sample_receipt()
    source = parts.source.model_copy(update={"reason": "dirty_source", "commit": None})
    data = parts.model_copy(update={"source": source}).to_bytes()
    found = [problem.path for problem in refusal(data).problems]
    assert found == ["source.reason", "source.commit", "fields_sha256"]


def test_a_receipt_over_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its bytes."""
    data = sample_receipt().to_bytes()
    monkeypatch.setattr(limits, "RECEIPT_MAX_BYTES", len(data) - 1)
    assert refusal(data).problems[0].code == "json_too_large"


def test_every_reason_of_the_type_is_in_the_list() -> None:
    """Two spellings of one fact."""
    known = receipt.BuildReceipt.model_json_schema()["$defs"]["Source"]["properties"]["reason"]
    assert sorted(known["anyOf"][0]["enum"]) == sorted(receipt.REASONS)
