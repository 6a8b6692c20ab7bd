"""Tests of the scripts of verifying-skill-provenance, against real git and real bundles."""

from __future__ import annotations

import base64
import json
import zipfile
from typing import TYPE_CHECKING, Any, Final

import pytest

from skills_bundle.bundle import assemble, receipt
from skills_bundle.formats.digest import dir_hash, sha256_hex
from tests.builders import SkillsFolder
from tests.skills_collection.collection import run

if TYPE_CHECKING:
    from pathlib import Path

DIGESTS: Final = "verifying-skill-provenance/skill_digests.py"
CHECK: Final = "verifying-skill-provenance/check_bundle.py"
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture
def folder(tmp_path: Path) -> SkillsFolder:
    """Return a committed skills folder with cases that digests often get wrong."""
    made = SkillsFolder(tmp_path / "project")
    made.skill("alpha")
    made.write("alpha/scripts/run.sh", "#!/bin/sh\n", executable=True)
    made.write("alpha/a/b.md", "x")
    made.write("alpha/a.md", "sorts between a and a/")
    made.write("alpha/é.md", "not ASCII")
    made.commit()
    return made


class Bundle:
    """A wheel with one real bundle in it; `write` makes it, changed or not."""

    def __init__(self, folder: SkillsFolder) -> None:
        """Take lock, receipt and files of a committed skills folder, as a build would."""
        result = folder.scan(folder.git_facts())
        lock = assemble.lock("acme", result)
        self.lock = lock.to_bytes()
        self.files = {
            f"skills/{skill.path}/{file.path}": file.data
            for skill in result.skills
            for file in skill.files
        }
        self.commit = folder.git("rev-parse", "HEAD")
        tree = folder.git("rev-parse", "HEAD:skills")
        raw = [_raw(folder, "commit", "HEAD"), _raw(folder, "tree", "HEAD^{tree}")]
        self.receipt = receipt.seal(
            package=receipt.Package(
                name="acme", version="1", metadata_sha256="5" * 64, computed=()
            ),
            catalog=receipt.CatalogClaim(
                sha256=sha256_hex(self.lock), git_tree=lock.digests.git_tree
            ),
            inputs=receipt.Inputs(dir_hash=dir_hash({}), files=()),
            asserted=receipt.Asserted(repository="https://example.org/x", source_ref=None),
            source=receipt.Source(
                state="clean",
                reason=None,
                commit=self.commit,
                skills_tree=tree,
                proof=tuple(base64.b64encode(body).decode() for body in raw),
            ),
        ).to_bytes()

    def members(self) -> dict[str, bytes]:
        """Return every file of the bundle."""
        ours = {"catalog.lock.json": self.lock, "build-receipt.json": self.receipt}
        return {**ours, **self.files}

    def write(self, path: Path, members: dict[str, bytes] | None = None) -> Path:
        """Write the wheel."""
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in (self.members() if members is None else members).items():
                archive.writestr(f"acme/.agents/{name}", data)
        return path


def _raw(folder: SkillsFolder, kind: str, name: str) -> bytes:
    """Return the body of a git object."""
    path = folder.git("rev-parse", name)
    hexadecimal = folder.git("cat-file", kind, path).encode("utf-8", "surrogateescape")
    # `SkillsFolder.git` strips the end, so a commit's last line feed has to be put back.
    return hexadecimal + b"\n" if kind == "commit" else hexadecimal


@pytest.fixture
def bundle(folder: SkillsFolder) -> Bundle:
    """Return a bundle of that folder."""
    return Bundle(folder)


def test_the_tree_is_the_one_git_gives(folder: SkillsFolder) -> None:
    """With x bits, nested folders, git's own order, and names beyond ASCII."""
    tree = folder.git("rev-parse", "HEAD:skills/alpha")
    ran = run(DIGESTS, folder.path / "alpha", "--expect", tree)
    assert (ran.code, ran.stdout.splitlines()[0]) == (0, f"tree {tree}")


def test_h1_is_the_one_of_our_locks(folder: SkillsFolder) -> None:
    """Go's dirhash over the whole folder."""
    h1 = folder.lock().digests.dir_hash
    assert run(DIGESTS, folder.path, "--expect", h1).code == 0


def test_junk_is_left_out(folder: SkillsFolder) -> None:
    """A `.DS_Store` makes no other skill of it."""
    before = run(DIGESTS, folder.path).stdout
    folder.write("alpha/.DS_Store", "x")
    folder.write("alpha/__pycache__/a.pyc", "x")
    assert run(DIGESTS, folder.path).stdout == before


def test_a_changed_byte_is_not_as_expected(folder: SkillsFolder) -> None:
    """Exit code 1."""
    tree = folder.git("rev-parse", "HEAD:skills/alpha")
    folder.write("alpha/a.md", "changed")
    assert run(DIGESTS, folder.path / "alpha", "--expect", tree).code == 1


def test_an_empty_folder_has_gits_empty_tree(tmp_path: Path) -> None:
    """The one that every git knows."""
    assert run(DIGESTS, tmp_path, "--expect", EMPTY_TREE).code == 0


def test_a_link_is_reported_and_not_followed(tmp_path: Path) -> None:
    """A copy may lead anywhere."""
    (tmp_path / "out").symlink_to("/")
    assert "link out: its target is not part" in run(DIGESTS, tmp_path).stdout


def test_a_true_bundle_follows_whole(bundle: Bundle, tmp_path: Path) -> None:
    """From the bytes over the lock and the receipt to the commit."""
    ran = run(CHECK, bundle.write(tmp_path / "acme.whl"), "--commit", bundle.commit)
    assert ran.code == 0, ran.stdout
    assert f"commit {bundle.commit} leads to this tree over 1 raw trees" in ran.stdout


def test_an_installed_folder_is_read_like_a_wheel(bundle: Bundle, tmp_path: Path) -> None:
    """`.agents`, as it lies in site-packages."""
    for name, data in bundle.members().items():
        path = tmp_path / ".agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert run(CHECK, tmp_path / ".agents").code == 0


def test_what_only_the_receipt_says_is_called_asserted(bundle: Bundle, tmp_path: Path) -> None:
    """The repository's address is nobody's finding."""
    text = run(CHECK, bundle.write(tmp_path / "acme.whl")).stdout
    assert text.index("asserted, not checked") < text.index("https://example.org/x")


@pytest.mark.parametrize(
    ("name", "data", "finding"),
    [
        ("skills/alpha/a.md", b"changed", "changed: skills/alpha/a.md"),
        ("skills/alpha/a.md", None, "missing: skills/alpha/a.md"),
        ("skills/alpha/new.md", b"", "extra: skills/alpha/new.md"),
    ],
)
def test_a_file_that_is_not_as_locked_is_named(
    name: str, data: bytes | None, finding: str, bundle: Bundle, tmp_path: Path
) -> None:
    """Exit code 1."""
    members = bundle.members()
    if data is None:
        del members[name]
    else:
        members[name] = data
    ran = run(CHECK, bundle.write(tmp_path / "acme.whl", members))
    assert (ran.code, finding in ran.stdout) == (1, True)


def _set(value: dict[str, Any], path: str, new: object) -> bytes:
    """Change one field of a JSON document."""
    *keys, last = path.split(".")
    inner = value
    for key in keys:
        inner = inner[key]
    inner[last] = new
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("path", "new", "finding"),
    [
        ("catalog.sha256", "0" * 64, "the receipt names another lock"),
        ("catalog.git_tree", "0" * 40, "the receipt names another git tree"),
        ("source.commit", "0" * 40, "the proof's first object is not the commit"),
        ("source.skills_tree", "0" * 40, "the proof does not lead to the skills tree"),
        ("source.proof", ["!"], "the proof is not base64"),
    ],
)
def test_a_receipt_that_contradicts_is_named(
    path: str, new: object, finding: str, bundle: Bundle, tmp_path: Path
) -> None:
    """Each field is compared with something else."""
    changed = _set(json.loads(bundle.receipt), path, new)
    wheel = bundle.write(tmp_path / "acme.whl", {**bundle.members(), "build-receipt.json": changed})
    ran = run(CHECK, wheel)
    assert (ran.code, finding in ran.stdout) == (1, True)


def test_a_lock_whose_digests_do_not_follow_is_named(bundle: Bundle, tmp_path: Path) -> None:
    """The digests of the whole are recomputed, not believed."""
    changed = _set(json.loads(bundle.lock), "digests.dir_hash", "0" * 64)
    wheel = bundle.write(tmp_path / "acme.whl", {**bundle.members(), "catalog.lock.json": changed})
    assert "dir_hash does not follow" in run(CHECK, wheel).stdout


def test_a_digest_from_elsewhere_decides(bundle: Bundle, tmp_path: Path) -> None:
    """A coherent bundle that is not the expected one fails."""
    wheel = bundle.write(tmp_path / "acme.whl")
    good = run(CHECK, wheel, "--lock-sha256", sha256_hex(bundle.lock)).code
    assert (good, run(CHECK, wheel, "--lock-sha256", "0" * 64).code) == (0, 1)


@pytest.mark.parametrize("name", ["catalog.lock.json", "build-receipt.json"])
def test_without_lock_or_receipt_it_cannot_tell(name: str, bundle: Bundle, tmp_path: Path) -> None:
    """Exit code 3, never 0."""
    members = bundle.members()
    del members[name]
    assert run(CHECK, bundle.write(tmp_path / "acme.whl", members)).code == 3


def test_the_exported_commit_has_the_commits_id(
    bundle: Bundle, folder: SkillsFolder, tmp_path: Path
) -> None:
    """Git itself hashes it to the id, so that its signature can be checked anywhere."""
    raw = tmp_path / "commit.raw"
    run(CHECK, bundle.write(tmp_path / "acme.whl"), "--export-commit", raw)
    assert folder.git("hash-object", "-t", "commit", str(raw)) == bundle.commit
