"""A program of somebody's uses an installed collection through the public names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.end_to_end.foreign_project import built, installed
from tests.end_to_end.test_build_foreign import src_layout
from tests.hatch_plugin.sample import SKILL_MD

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import json
import skills_bundle

acme = skills_bundle.collection("acme-skills")
skill = acme.skill("greet")
data = skill.read()
(skill.path / "SKILL.md").write_bytes(data.replace(b"e", b"3"))
try:
    skill.read()
    refused = None
except skills_bundle.UnsafeFileError as error:
    refused = [error.kind, error.path]
print(json.dumps({
    "names": [row.name for row in skills_bundle.collections()],
    "version": acme.version,
    "commit": acme.provenance.resolved_git_sha,
    "integrity": acme.provenance.source_provenance.integrity,
    "text": data.decode(),
    "refused": refused,
    "verdict": acme.verify().verdict,
}))
"""


def test_a_program_reads_verified_bytes_of_an_installed_wheel(
    wheelhouse: Path, tmp_path: Path
) -> None:
    """Names, version and commit are the wheel's; an altered file gives no bytes."""
    sample = src_layout(tmp_path / "repository").committed()
    wheel = built(sample.folder, wheelhouse, tmp_path / "out")
    place = installed(tmp_path, wheelhouse, "--link-mode=copy", "skills-bundle", wheel)
    assert json.loads(place.run("python", "-P", "-c", PROGRAM)) == {
        "names": ["acme-skills", "skills-bundle"],
        "version": "1.0",
        "commit": sample.commit_id(),
        "integrity": "verified",
        "text": SKILL_MD.decode(),
        "refused": ["changed", "greet/SKILL.md"],
        "verdict": "differs",
    }
