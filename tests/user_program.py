"""What somebody may write who uses the public names; run by a test, and checked for types."""

from pathlib import Path

import skills_bundle
from skills_bundle import Skill, UnsafeFileError, collection


def sizes(skill: Skill) -> dict[str, int]:
    """Return how many bytes each file of a skill has."""
    return {path: file.size for path, file in skill.files.items()}


acme = collection("acme-skills")
names: list[str] = [row.name for row in acme.skills]
folder: Path = acme.skill("alpha").path
commit: str | None = acme.provenance.resolved_git_sha
verdict: str = acme.verify().verdict
versions: list[str] = [row.version for row in skills_bundle.collections()]
try:
    data: bytes = acme.skill("alpha").read("SKILL.md")
except UnsafeFileError as error:
    kind: str = error.kind
