"""Record: `build-receipt.json`, our **unsigned** record of a build.

Deterministic: a function of the commit and the configuration. It holds no time, host, user, ref or
remote. Every field is checked against another when read, so that no single flipped bit goes
unnoticed; a coherent rewrite of everything does, since nothing here is signed.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, StringConstraints, ValidationError

from skills_bundle.bundle import limits
from skills_bundle.errors import InvalidReceiptError, MalformedJsonError, Problem
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.formats.record import ObjectId, Record, Sha256Hex, problems_of
from skills_bundle.git.proof import Reason, State

RECEIPT_FILE_NAME: Final = "build-receipt.json"
RECEIPT_VERSION: Final = 1

REASONS: Final[tuple[str, ...]] = (
    "not_git_source",
    "git_unavailable",
    "not_owner",
    "unsupported_object_format",
    "no_commit",
    "project_not_in_repository",
    "eol_converted",
    "dirty_source",
)

Text = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
Base64 = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]*={0,2}$")]


class Package(Record):
    """The distribution this receipt was made for.

    Attributes:
        name: Normalised.
        version: In PEP 440's normal form; `METADATA` has it as the project typed it.
        metadata_sha256: SHA-256 of the wheel's core metadata, the file `METADATA`.
        computed: Fields of `[project]` that code or the environment gave when it was built, sorted:
            these do not follow from the commit.
    """

    name: Text
    version: Text
    metadata_sha256: Sha256Hex
    computed: Annotated[tuple[Text, ...], Field(max_length=limits.RECEIPT_MAX_INPUTS)]


class CatalogClaim(Record):
    """The lock this receipt was made with: SHA-256 of its bytes, git tree of the skills folder."""

    sha256: Sha256Hex
    git_tree: ObjectId


class Inputs(Record):
    """What the build was made of: the files of the sdist, PKG-INFO and this receipt aside.

    Attributes:
        dir_hash: Go's dirhash over `files`; paths relative to the project's folder.
        files: Every path, sorted by bytes.
        executable: Those of `files` that git records as executable. The wheel built from the sdist
            takes them from here, since unpacking loses the bit on some systems.
    """

    dir_hash: Sha256Hex
    files: Annotated[tuple[Text, ...], Field(max_length=limits.RECEIPT_MAX_INPUTS)]
    executable: Annotated[tuple[Text, ...], Field(max_length=limits.RECEIPT_MAX_INPUTS)] = ()


class Asserted(Record):
    """What the project's configuration claims; copied, never checked."""

    repository: Text | None
    source_ref: Text | None


class Source(Record):
    """What the build saw of the checkout.

    `commit`, `skills_tree` and `proof` are null unless `state` is `clean`; `reason` is null only
    then. `proof` holds base64 of the raw commit object and of the trees down to the skills folder,
    or null where the project leaves it out or it would exceed `limits.PROOF_MAX_BYTES`.
    """

    state: State
    reason: Reason | None
    commit: ObjectId | None
    skills_tree: ObjectId | None
    proof: tuple[Base64, ...] | None


class BuildReceipt(Record):
    """A whole receipt. Construct with `parse` (bytes) or `seal` (the parts)."""

    receipt_version: Literal[1]
    signed: Literal[False]
    package: Package
    catalog: CatalogClaim
    inputs: Inputs
    asserted: Asserted
    source: Source
    fields_sha256: Sha256Hex
    """SHA-256 of this receipt rendered without this field: notices a flip in any of the others."""

    def to_bytes(self) -> bytes:
        """Return the one rendering: UTF-8, 2-space indent, keys in this order, final newline."""
        return strict_json.pretty(self.model_dump(mode="json"))


def seal(
    *, package: Package, catalog: CatalogClaim, inputs: Inputs, asserted: Asserted, source: Source
) -> BuildReceipt:
    """Make a receipt of its parts, with the digest of them all."""
    receipt = BuildReceipt(
        receipt_version=RECEIPT_VERSION,
        signed=False,
        package=package,
        catalog=catalog,
        inputs=inputs,
        asserted=asserted,
        source=source,
        fields_sha256="0" * 64,
    )
    return receipt.model_copy(update={"fields_sha256": fields_sha256(receipt)})


def fields_sha256(receipt: BuildReceipt) -> str:
    """Recompute the digest of all other fields."""
    value: dict[str, JsonValue] = receipt.model_dump(mode="json", exclude={"fields_sha256"})
    return sha256_hex(strict_json.pretty(value))


def parse(data: bytes) -> BuildReceipt:
    """Read a receipt.

    Args:
        data: The file's bytes, at most `limits.RECEIPT_MAX_BYTES`.

    Raises:
        InvalidReceiptError: With every problem: not strict JSON, unknown or missing keys, fields
            that contradict each other, a wrong `fields_sha256`, or not the one rendering.
    """
    try:
        strict_json.loads(data, limit=limits.RECEIPT_MAX_BYTES)
        receipt = BuildReceipt.model_validate_json(data)
    except MalformedJsonError as error:
        raise InvalidReceiptError("The build receipt cannot be read.", error.problems) from error
    except ValidationError as error:
        raise InvalidReceiptError(
            "The file is not a valid build receipt.", problems_of(error)
        ) from error
    problems = _rule_problems(receipt)
    if problems:
        raise InvalidReceiptError("The build receipt contradicts itself.", problems)
    if receipt.to_bytes() != data:
        raise InvalidReceiptError("The build receipt is not in canonical form.")
    return receipt


def _rule_problems(receipt: BuildReceipt) -> tuple[Problem, ...]:
    """Return every contradiction between fields."""
    source, files = receipt.source, receipt.inputs.files
    executable = receipt.inputs.executable
    clean = source.state == "clean"
    rules = (
        (
            "source.reason",
            clean == (source.reason is None),
            "must be null if and only if the state is clean",
        ),
        (
            "source.commit",
            clean == (source.commit is not None),
            "must be set if and only if the state is clean",
        ),
        (
            "source.skills_tree",
            clean == (source.skills_tree is not None),
            "must be set if the state is clean",
        ),
        ("source.proof", clean or source.proof is None, "must be null unless the state is clean"),
        (
            "package.computed",
            _sorted_once(receipt.package.computed),
            "must be sorted, without duplicates",
        ),
        ("inputs.files", _sorted_once(files), "must be sorted, without duplicates"),
        ("inputs.executable", _sorted_once(executable), "must be sorted, without duplicates"),
        ("inputs.executable", set(executable) <= set(files), "must all be among inputs.files"),
        (
            "fields_sha256",
            receipt.fields_sha256 == fields_sha256(receipt),
            "does not follow from the other fields",
        ),
    )
    return tuple(
        Problem(code="contradiction", message=message, path=place)
        for place, holds, message in rules
        if not holds
    )


def _sorted_once(paths: tuple[str, ...]) -> bool:
    """Return whether paths are sorted by bytes, each once."""
    return list(paths) == sorted(set(paths), key=str.encode)
