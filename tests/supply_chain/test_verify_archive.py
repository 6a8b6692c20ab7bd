"""`verify-wheel` and `verify-sdist` of real builds with one thing changed in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hatchling.metadata.spec import DEFAULT_METADATA_VERSION

from skills_bundle.archives.model import Member
from skills_bundle.archives.reading import read_sdist, read_wheel
from skills_bundle.bundle import receipt as receipts
from skills_bundle.formats.digest import dir_hash, sha256_hex
from tests.hatch_plugin.sample import BUNDLE, SKILL_MD, SampleProject
from tests.supply_chain.archive_samples import (
    DIST_INFO,
    SDIST,
    WHEEL,
    repacked,
    sdist_repacked,
    sdist_with,
    verified,
    with_record,
    without_record,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skills_bundle.supply_chain.archive.verify import ArchiveVerification

SKILL = f"{BUNDLE}/skills/greet/SKILL.md"
SCRIPT = f"{BUNDLE}/skills/greet/scripts/hi.sh"
LOCK = f"{BUNDLE}/catalog.lock.json"
RECEIPT = f"{BUNDLE}/build-receipt.json"


def differences(found: ArchiveVerification) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return state and witnesses of the files that differ, by path."""
    return {row.path: (row.state, row.contradicted_by) for row in found.differences}


def codes(found: ArchiveVerification) -> set[str]:
    """Return the codes of the problems that are not about files."""
    return {problem.code for problem in found.problems}


def test_a_wheel_as_built_matches(sample_wheel: Path) -> None:
    """Every member is listed, the proof leads from the commit to these bytes."""
    found = verified(sample_wheel.read_bytes())
    assert (found.verdict, found.exit_code, found.form) == ("match", 0, "canonical")
    assert (found.proof.state, found.sbom, found.gaps) == ("recomputed", "follows", ())
    assert found.sha256 == sha256_hex(sample_wheel.read_bytes())


@pytest.mark.parametrize("name", ["RECORD.jws", "RECORD.p7s"])
def test_a_signature_of_record_is_confirmed_by_nothing(sample_wheel: Path, name: str) -> None:
    """RECORD cannot list it, so not every byte is locked and recorded."""
    path = f"{DIST_INFO}/{name}"
    found = verified(repacked(without_record(sample_wheel.read_bytes(), {path: b"hidden"})))
    assert (found.verdict, found.exit_code) == ("cannot_tell", 3)
    assert differences(found) == {path: ("unconfirmed", ())}


def test_an_sdist_as_built_matches(sample_sdist: Path) -> None:
    """Its receipt covers what the build read."""
    found = verified(sample_sdist.read_bytes())
    assert (found.verdict, found.form, found.record) == ("match", "canonical", None)
    assert found.provenance is not None
    assert found.provenance.resolved_git_sha is not None


def test_a_wheel_packed_again_matches_and_says_so(sample_wheel: Path) -> None:
    """The bytes are those that were locked; dates and modes are not covered."""
    found = verified(repacked(sample_wheel.read_bytes()))
    assert (found.verdict, found.form) == ("match", "other")


def test_an_sdist_packed_again_matches_and_says_so(sample_sdist: Path) -> None:
    """Likewise."""
    found = verified(sdist_repacked(sample_sdist.read_bytes()))
    assert (found.verdict, found.form) == ("match", "other")


def test_a_deflated_wheel_is_in_the_form_that_its_project_chose(tmp_path: Path) -> None:
    """The bytes that zlib produces are not compared."""
    project = SampleProject.create(tmp_path).configure('compression = "deflated"').committed()
    found = verified(project.wheel().read_bytes())
    assert (found.verdict, found.form) == ("match", "canonical")


def test_a_wheel_of_a_dirty_checkout_matches(tmp_path: Path) -> None:
    """Exit 0: the bytes are those that were locked, and the gap is said."""
    project = SampleProject.create(tmp_path)
    project.write("src/acme_skills/__init__.py", b"# edited\n")
    found = verified(project.wheel().read_bytes())
    assert (found.verdict, found.gaps) == ("match", ("dirty_source",))


def test_a_wheel_built_without_the_hook_cannot_be_verified(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3, and the cause: nothing in it says what it should be."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    found = verified(sample.wheel("dist/bare").read_bytes())
    assert (found.verdict, found.exit_code, found.provenance) == ("cannot_tell", 3, None)
    assert [problem.code for problem in found.lock.problems] == ["no_bundle"]


def test_an_sdist_built_without_the_hook_is_unconfirmed(
    sample: SampleProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock still confirms the skills; nothing confirms the rest."""
    monkeypatch.setenv("HATCH_BUILD_NO_HOOKS", "1")
    found = verified(sample.sdist("dist/bare").read_bytes())
    assert (found.verdict, found.receipt.state) == ("cannot_tell", "missing")
    states = {row.path: row.state for row in found.files}
    assert (states["skills/greet/SKILL.md"], states["hatch_build.py"]) == ("ok", "unconfirmed")


CHANGED: dict[str, tuple[Mapping[str, bytes | Member | None], str, tuple[str, ...]]] = {
    SKILL: ({SKILL: b"changed"}, "changed", ("lock",)),
    SCRIPT: ({SCRIPT: Member(b"#!/bin/sh\necho hi\n")}, "changed", ("lock",)),
    f"{BUNDLE}/skills/greet/new.md": (
        {f"{BUNDLE}/skills/greet/new.md": b"new"},
        "extra",
        ("lock",),
    ),
    f"{BUNDLE}/notes.md": ({f"{BUNDLE}/notes.md": b"new"}, "extra", ("lock",)),
    f"{DIST_INFO}/METADATA": (
        {f"{DIST_INFO}/METADATA": b"Name: acme-skills\nVersion: 1.0\nRequires-Dist: evil\n"},
        "changed",
        ("receipt",),
    ),
}
"""Changes with a renewed RECORD: path, state and witnesses."""


@pytest.mark.parametrize("path", CHANGED)
def test_a_change_is_noticed_though_record_was_renewed(sample_wheel: Path, path: str) -> None:
    """The lock and the receipt have digests of their own."""
    changes, state, witnesses = CHANGED[path]
    found = verified(with_record(sample_wheel.read_bytes(), changes))
    assert (found.verdict, found.exit_code) == ("differs", 1)
    assert differences(found)[path] == (state, witnesses)


def test_a_missing_skill_file_is_named(sample_wheel: Path) -> None:
    """By the lock that lists it."""
    found = verified(with_record(sample_wheel.read_bytes(), {SCRIPT: None}))
    assert differences(found) == {SCRIPT: ("missing", ("lock",))}


CODE = "acme_skills/__init__.py"


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({CODE: b"# changed\n"}, (CODE, "changed", ("record",))),
        ({CODE: None}, (CODE, "missing", ("record",))),
        ({"acme_skills/new.py": b""}, ("acme_skills/new.py", "extra", ("record",))),
        ({SKILL: b"changed"}, (SKILL, "changed", ("lock", "record"))),
    ],
    ids=str,
)
def test_a_change_that_record_does_not_know_is_noticed(
    sample_wheel: Path,
    changes: Mapping[str, bytes | None],
    row: tuple[str, str, tuple[str, ...]],
) -> None:
    """Code is in no lock: RECORD alone has its digest."""
    found = verified(without_record(sample_wheel.read_bytes(), changes))
    assert found.verdict == "differs"
    path, state, witnesses = row
    assert differences(found)[path] == (state, witnesses)


def test_code_changed_with_its_record_is_not_noticed(sample_wheel: Path) -> None:
    """A coherent rewrite passes: nothing here is signed, and the code is in no lock."""
    found = verified(with_record(sample_wheel.read_bytes(), {CODE: b"# changed\n"}))
    assert found.verdict == "match"


@pytest.mark.parametrize("document", [LOCK, RECEIPT])
def test_a_wheel_without_lock_or_receipt_cannot_be_verified(
    sample_wheel: Path, document: str
) -> None:
    """Exit 3, with a renewed RECORD; RECORD that still lists it makes it a difference."""
    data = sample_wheel.read_bytes()
    assert verified(with_record(data, {document: None})).verdict == "cannot_tell"
    assert verified(without_record(data, {document: None})).verdict == "differs"


def test_the_executable_bit_of_a_skill_counts(sample_wheel: Path) -> None:
    """The lock says which scripts have it."""
    changes = {SKILL: Member(SKILL_MD, executable=True)}
    found = verified(with_record(sample_wheel.read_bytes(), changes))
    assert differences(found) == {SKILL: ("changed", ("lock",))}


NAMES = {
    "acme_skills-1.1-py2.py3-none-any.whl": {"file_name"},
    "other-1.0-py2.py3-none-any.whl": {"file_name"},
    "acme_skills-1.0-py3-none-any.whl": {"file_name"},
    "acme_skills-1.0.whl": {"file_name"},
    "Acme.Skills-1.0-py2.py3-none-any.whl": set[str](),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_under_another_name_is_noticed(sample_wheel: Path, name: str) -> None:
    """Installers go by it; how the name is spelled does not matter."""
    assert codes(verified(sample_wheel.read_bytes(), name)) == NAMES[name]


@pytest.mark.parametrize("name", ["acme_skills-1.1.tar.gz", "other-1.0.tar.gz"])
def test_an_sdist_under_another_name_is_noticed(sample_sdist: Path, name: str) -> None:
    """Its metadata and its top folder differ."""
    assert codes(verified(sample_sdist.read_bytes(), name)) == {"file_name", "top_folder"}


STRUCTURE: dict[str, tuple[Mapping[str, bytes | None], str]] = {
    "second .dist-info": ({"other-1.0.dist-info/METADATA": b""}, "dist_info"),
    "code that replaces code": (
        {"acme_skills-1.0.data/purelib/acme_skills/__init__.py": b""},
        "install_place",
    ),
    "script that a command replaces": (
        {
            "acme_skills-1.0.data/scripts/acme": b"#!python",
            f"{DIST_INFO}/entry_points.txt": b"[skills_bundle.collections]\n"
            b"acme-skills = acme_skills\n\n[console_scripts]\nacme = acme_skills:main\n",
        },
        "install_place",
    ),
    "second bundle": ({"other/.agents/catalog.lock.json": b"{}"}, "second_bundle"),
    "no metadata": ({f"{DIST_INFO}/METADATA": None}, "no_metadata"),
    "no WHEEL": ({f"{DIST_INFO}/WHEEL": None}, "no_metadata"),
    "no entry point": ({f"{DIST_INFO}/entry_points.txt": None}, "entry_point"),
    "other entry point": (
        {f"{DIST_INFO}/entry_points.txt": b"[skills_bundle.collections]\nacme-skills = evil\n"},
        "entry_point",
    ),
    "broken entry points": ({f"{DIST_INFO}/entry_points.txt": b"= = ="}, "entry_point"),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_what_installers_and_servers_rely_on_is_compared(sample_wheel: Path, case: str) -> None:
    """Each of them could lead to other code."""
    changes, code = STRUCTURE[case]
    found = verified(with_record(sample_wheel.read_bytes(), changes))
    assert found.verdict == "differs"
    assert code in codes(found)


def test_a_wheel_without_record_is_noticed(sample_wheel: Path) -> None:
    """A wheel must have one; an installation need not."""
    found = verified(without_record(sample_wheel.read_bytes(), {f"{DIST_INFO}/RECORD": None}))
    assert (found.verdict, "no_record" in codes(found)) == ("differs", True)
    assert "record_absent" in found.gaps


def test_a_record_without_a_digest_is_noticed(sample_wheel: Path) -> None:
    """A row without one would exempt its file from every comparison."""
    data = sample_wheel.read_bytes()
    record = read_wheel(data, WHEEL).members[f"{DIST_INFO}/RECORD"].data.decode()
    lines = [f"{CODE},," if row.startswith(CODE) else row for row in record.splitlines()]
    changes = {f"{DIST_INFO}/RECORD": "\n".join([*lines, ""]).encode()}
    assert verified(without_record(data, changes)).verdict == "differs"


PATCHED: dict[str, tuple[Mapping[str, bytes | Member | None], dict[str, str]]] = {
    "file at the top": ({"hatch_build.py": b"import evil\n"}, {"hatch_build.py": "changed"}),
    "skill": ({"skills/greet/SKILL.md": b"changed"}, {"skills/greet/SKILL.md": "changed"}),
    "lock": ({"catalog.lock.json": b"{}"}, {"catalog.lock.json": "changed"}),
    "added": ({"src/evil.py": b""}, {"src/evil.py": "extra"}),
    "executable": (
        {"hatch_build.py": Member(b"x", executable=True)},
        {"hatch_build.py": "changed"},
    ),
    "metadata": ({"PKG-INFO": b"Name: acme-skills\nVersion: 1.0\n"}, {"PKG-INFO": "changed"}),
}


@pytest.mark.parametrize("case", PATCHED)
def test_a_patched_sdist_names_the_file(sample_sdist: Path, case: str) -> None:
    """By the lock, the receipt, or the trees in its proof."""
    changes, wanted = PATCHED[case]
    found = verified(sdist_with(sample_sdist.read_bytes(), changes))
    assert found.verdict == "differs"
    definite = {row.path: row.state for row in found.differences if row.state != "unconfirmed"}
    assert definite == wanted


def test_files_under_one_digest_are_unconfirmed_together(sample_sdist: Path) -> None:
    """The proof has no tree of a folder beside the skills, only its id."""
    changes = {"src/acme_skills/__init__.py": b"import evil\n"}
    found = verified(sdist_with(sample_sdist.read_bytes(), changes))
    assert differences(found) == {
        "src/acme_skills/__init__.py": ("unconfirmed", ()),
        "src/acme_skills/run.sh": ("unconfirmed", ()),
    }
    assert (found.verdict, codes(found)) == ("differs", {"inputs"})


def test_without_a_proof_every_unlocked_file_is_unconfirmed(tmp_path: Path) -> None:
    """One digest covers them all."""
    project = SampleProject.create(tmp_path).configure("proof = false").committed()
    changes = {"hatch_build.py": b"import evil\n"}
    found = verified(sdist_with(project.sdist().read_bytes(), changes))
    states = {row.path: row.state for row in found.differences}
    assert states["pyproject.toml"] == states["hatch_build.py"] == "unconfirmed"
    assert "skills/greet/SKILL.md" not in states


SDIST_TABLE = "\n[tool.hatch.build.targets.sdist]\n"
SDIST_ONLY = {
    "PKG-INFO": f'{SDIST_TABLE}core-metadata-version = "2.2"\n',
    "setup.py": f"{SDIST_TABLE}support-legacy = true\n",
}


@pytest.mark.parametrize("path", SDIST_ONLY)
def test_a_file_built_only_for_the_sdist_is_unconfirmed(tmp_path: Path, path: str) -> None:
    """The receipt, shared with the wheel, has no digest of it."""
    project = SampleProject.create(tmp_path).configure(SDIST_ONLY[path]).committed()
    found = verified(project.sdist().read_bytes())
    assert (found.verdict, found.receipt.state, codes(found)) == ("cannot_tell", "ok", set())
    assert differences(found) == {path: ("unconfirmed", ())}


def test_core_metadata_equal_to_the_wheels_are_confirmed(tmp_path: Path) -> None:
    """The sdist may name the version that is the wheel's anyway."""
    table = f'{SDIST_TABLE}core-metadata-version = "{DEFAULT_METADATA_VERSION}"\n'
    project = SampleProject.create(tmp_path).configure(table).committed()
    assert verified(project.sdist().read_bytes()).verdict == "match"


@pytest.mark.parametrize("path", SDIST_ONLY)
def test_a_changed_configuration_does_not_exempt_a_file(sample_sdist: Path, path: str) -> None:
    """The configuration is an input of the receipt."""
    data = sample_sdist.read_bytes()
    pyproject = read_sdist(data, SDIST).members["pyproject.toml"].data
    changes = {"pyproject.toml": pyproject + SDIST_ONLY[path].encode(), path: b"Name: evil\n"}
    assert verified(sdist_with(data, changes)).verdict == "differs"


def test_a_missing_file_of_an_sdist_is_named(sample_sdist: Path) -> None:
    """The receipt lists every input by path."""
    found = verified(sdist_with(sample_sdist.read_bytes(), {"hatch_build.py": None}))
    assert differences(found)["hatch_build.py"] == ("missing", ("receipt",))


def test_a_project_inside_a_repository_is_found_by_its_proof(tmp_path: Path) -> None:
    """The trees lead through the folders above it."""
    project = SampleProject.create(tmp_path / "packages/acme", repository=tmp_path)
    found = verified(sdist_with(project.sdist().read_bytes(), {"hatch_build.py": b"changed"}))
    assert differences(found) == {"hatch_build.py": ("changed", ("receipt",))}


def test_a_coherent_rewrite_of_an_sdist_passes(sample_sdist: Path) -> None:
    """Nothing here is signed, so a renewed receipt is not noticed."""
    data = sample_sdist.read_bytes()
    members = dict(read_sdist(data, SDIST).members)
    members["hatch_build.py"] = Member(b"# changed\n")
    old = receipts.parse(members["build-receipt.json"].data)
    covered = {path: members[path].data for path in old.inputs.files}
    digest = dir_hash({path: sha256_hex(body) for path, body in covered.items()})
    new = receipts.seal(
        package=old.package,
        catalog=old.catalog,
        inputs=old.inputs.model_copy(update={"dir_hash": digest}),
        asserted=old.asserted,
        source=old.source,
    )
    changes = {"hatch_build.py": b"# changed\n", "build-receipt.json": new.to_bytes()}
    assert verified(sdist_with(data, changes)).verdict == "match"
