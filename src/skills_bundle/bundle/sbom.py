"""Decision: the software bill of materials of a bundle: a function of its lock and its receipt.

CycloneDX 1.6 as JSON, for the place that PEP 770 gives it in a wheel. It is made
from the two documents beside it alone, so anyone who has them can make it again and compare. No
clock is read: time and serial number come from the receipt.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from skills_bundle.bundle import limits
from skills_bundle.errors import MalformedJsonError
from skills_bundle.formats import strict_json
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.git import proof

if TYPE_CHECKING:
    from pydantic import JsonValue

    from skills_bundle.bundle.lock import CatalogLock, LockedFile, LockedSkill
    from skills_bundle.bundle.receipt import BuildReceipt

    Object: TypeAlias = dict[str, JsonValue]

SBOM_VERSION: Final = "1"
"""Of what we put into a bill of materials; another one is not compared."""
SBOM_FOLDER: Final = "sboms"
"""Folder of the `.dist-info` that PEP 770 gives to bills of materials."""
PREFIX: Final = "skills-bundle:"
"""What the names of our own properties begin with."""

SbomState = Literal["follows", "differs", "not_compared", "missing"]
"""What became of a bill of materials.

`follows`: its bytes are those that lock and receipt give. `not_compared`: lock or receipt cannot be
believed, or another version of this program wrote it in another form.
"""

SPDX_IDS: Final = frozenset(
    {
        "0BSD",
        "AGPL-3.0-only",
        "AGPL-3.0-or-later",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC-BY-4.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "EPL-2.0",
        "EUPL-1.2",
        "GPL-2.0-only",
        "GPL-2.0-or-later",
        "GPL-3.0-only",
        "GPL-3.0-or-later",
        "ISC",
        "LGPL-2.1-only",
        "LGPL-2.1-or-later",
        "LGPL-3.0-only",
        "LGPL-3.0-or-later",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)
"""Licences written by id. The list is closed, since a longer one would change existing SBOMs; any
other licence is written by name."""

_COMMITTER: Final = re.compile(rb"^committer [^\n]*> ([0-9]{1,12}) [+-][0-9]{4}$", re.MULTILINE)


def file_name(distribution: str) -> str:
    """Return the name of the file.

    Args:
        distribution: Normalised name.
    """
    return f"{distribution}.cdx.json"


def path(dist_info: str, distribution: str) -> str:
    """Return the file's path in a wheel or installation.

    Args:
        dist_info: The `.dist-info` folder.
        distribution: Normalised name.
    """
    return f"{dist_info}/{SBOM_FOLDER}/{file_name(distribution)}"


def make(lock: CatalogLock, receipt: BuildReceipt) -> bytes:
    """Return the bill of materials of a bundle, in its one rendering.

    Args:
        lock: What ships.
        receipt: Of the same build; without a proof in it there is no time.
    """
    root = _purl(receipt.package.name, receipt.package.version)
    skills = [_skill(skill) for skill in lock.skills]
    inside: list[JsonValue] = [_ref(skill) for skill in lock.skills]
    return strict_json.pretty(
        {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "serialNumber": _serial(root, receipt),
            "version": 1,
            "metadata": _metadata(root, lock, receipt),
            "components": [*skills],
            # Said, since a reader would take silence for completeness: the skills are all there
            # with every file; the package's code is not listed, and its dependencies are not known.
            "compositions": [
                {"aggregate": "complete", "assemblies": inside},
                {"aggregate": "incomplete", "assemblies": [root]},
                {"aggregate": "unknown", "dependencies": [root]},
            ],
        }
    )


def state(found: bytes | None, lock: CatalogLock | None, receipt: BuildReceipt | None) -> SbomState:
    """Return whether a bill of materials follows from lock and receipt.

    Args:
        found: Its bytes; None if there is none, which a setting may want.
        lock: None if it cannot be believed.
        receipt: Likewise.
    """
    if found is None:
        return "missing"
    if lock is None or receipt is None:
        return "not_compared"
    if found == make(lock, receipt):
        return "follows"
    return "not_compared" if _version(found) not in {None, SBOM_VERSION} else "differs"


def _version(data: bytes) -> str | None:
    """Return the version of our form that a bill of materials states."""
    try:
        bom: Any = strict_json.loads(data, limit=limits.SBOM_MAX_BYTES)
        rows = bom["metadata"]["properties"]
        found = [row["value"] for row in rows if row["name"] == f"{PREFIX}sbom_version"]
    except (MalformedJsonError, KeyError, TypeError, IndexError):
        return None
    return found[0] if len(found) == 1 and isinstance(found[0], str) else None


def _purl(name: str, version: str) -> str:
    """Return the package URL; two characters that a version may hold are escaped."""
    return f"pkg:pypi/{name}@{version.replace('!', '%21').replace('+', '%2B')}"


def _serial(root: str, receipt: BuildReceipt) -> str:
    """Return the serial number: a name-based UUID (RFC 9562, version 5) of package and receipt."""
    name = f"{root}#{sha256_hex(receipt.to_bytes())}"
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"


def commit_time(receipt: BuildReceipt) -> str | None:
    """Return the time of the commit that a receipt's proof holds, in UTC; None without one.

    It is the committer's word, as the author's is.
    """
    if not receipt.source.proof:
        return None
    commit = proof.decode(receipt.source.proof)[0]
    found = _COMMITTER.search(commit.partition(b"\n\n")[0])
    if found is None:
        return None
    try:
        return f"{datetime.fromtimestamp(int(found[1]), UTC):%Y-%m-%dT%H:%M:%S}Z"
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return None


def _metadata(root: str, lock: CatalogLock, receipt: BuildReceipt) -> Object:
    time = commit_time(receipt)
    return {
        **({} if time is None else {"timestamp": time}),
        "lifecycles": [{"phase": "build"}],
        # Without its version: what this file says depends on lock and receipt alone.
        "tools": {"components": [{"type": "application", "name": "skills-bundle"}]},
        "component": _component(root, receipt),
        "properties": _properties(
            sbom_version=SBOM_VERSION,
            collection=lock.collection,
            catalog_sha256=receipt.catalog.sha256,
            dir_hash=lock.digests.dir_hash,
            receipt_sha256=sha256_hex(receipt.to_bytes()),
            source_state=receipt.source.state,
            commit=receipt.source.commit,
            signed="false",
        ),
    }


def _component(root: str, receipt: BuildReceipt) -> Object:
    """Return the distribution; its address is what the project asserts, and is not looked up."""
    component: Object = {
        "type": "library",
        "bom-ref": root,
        "name": receipt.package.name,
        "version": receipt.package.version,
        "purl": root,
    }
    if repository := receipt.asserted.repository:
        reference: Object = {
            "type": "vcs",
            "url": repository,
            "comment": "asserted by the project's configuration",
        }
        component["externalReferences"] = [reference]
    return component


def _properties(**values: str | None) -> list[JsonValue]:
    return [{"name": f"{PREFIX}{name}", "value": value} for name, value in values.items() if value]


def _ref(skill: LockedSkill) -> str:
    return f"skill:{skill.path}"


def _skill(skill: LockedSkill) -> Object:
    version, licence = _field(skill, "version"), _text(skill.frontmatter.get("license"))
    return {
        "type": "data",
        "bom-ref": _ref(skill),
        "name": skill.name,
        **({} if version is None else {"version": version}),
        "description": skill.description,
        **({} if licence is None else {"licenses": [_licence(licence)]}),
        "swhid": [f"swh:1:dir:{skill.git_tree}"],
        "components": [_file(skill, file) for file in skill.files],
    }


def _field(skill: LockedSkill, name: str) -> str | None:
    """Return a text in the frontmatter's `metadata`, the specification's place for it."""
    metadata = skill.frontmatter.get("metadata")
    return _text(metadata.get(name)) if isinstance(metadata, dict) else None


def _text(value: JsonValue) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _licence(text: str) -> Object:
    kind = "id" if text in SPDX_IDS else "name"
    return {"license": {kind: text, "acknowledgement": "declared"}}


def _file(skill: LockedSkill, file: LockedFile) -> Object:
    """Return one file, by its path below the skills folder: two skills may hold the same one."""
    return {
        "type": "file",
        "name": f"{skill.path}/{file.path}",
        "hashes": [{"alg": "SHA-256", "content": file.sha256}],
    }
