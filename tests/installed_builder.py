"""A wheel's contents as an installer lays them out, without building or installing anything.

Start from the valid thing, break one part: `InstalledBuilder().install(folder)` gives an
`Installation` whose files can then be altered on disk.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills_bundle.bundle import receipt as receipts
from skills_bundle.bundle.lock import (
    Algorithms,
    CatalogLock,
    Digests,
    LockedFile,
    LockedSkill,
    UnlockedEntry,
)
from skills_bundle.catalog.service import Catalog
from skills_bundle.files.tree import FileTree
from skills_bundle.formats.digest import TreeEntry, sha256_hex
from skills_bundle.installed import bundle as bundles
from skills_bundle.installed import location as installed

if TYPE_CHECKING:
    from pathlib import Path

    from skills_bundle.bundle.verification import Verification
    from skills_bundle.catalog.reading import Resources
    from skills_bundle.installed.location import Installed

PACKAGE = "acme_skills"
NAME = "acme-skills"
VERSION = "1.2.0"
COMMIT = "c" * 40

Files = dict[str, bytes]

SAMPLE: dict[str, Files] = {
    "alpha": {
        "SKILL.md": b"---\nname: alpha\ndescription: First letters.\n---\n\n# Alpha\n",
        "references/deep/more.md": b"# More\n",
        "references/guide.md": b"# Guide\n\nRead me.\n",
        "scripts/run.py": b"print('alpha')\n",
    },
    "group/beta": {
        "SKILL.md": b"---\nname: beta\ndescription: Second letters.\n---\n\n# Beta\n",
        "assets/logo.bin": b"\x89\xff\x00\x01",
    },
}
"""Two skills, one of them nested; Markdown, code and bytes that are not text."""

CODE: Files = {
    "__init__.py": b'"""Acme."""\n',
    "tool.py": b"ANSWER = 42\n",
}


def skill(path: str, files: Files, **fields: object) -> LockedSkill:
    """Lock one skill; `fields` override what the lock would say of it."""
    name = path.rsplit("/", 1)[-1]
    description = f"What {name} is for."
    values: dict[str, object] = {
        "name": name,
        "path": path,
        "description": description,
        "frontmatter": {"name": name, "description": description},
        "tags": (),
        "git_tree": _tree(files).git_tree(),
        "diagnostics": (),
        "files": tuple(
            LockedFile(
                path=one, size=len(data), sha256=sha256_hex(data), executable=one.endswith(".py")
            )
            for one, data in sorted(files.items(), key=lambda item: item[0].encode())
        ),
    }
    return LockedSkill.model_validate(values | fields)


def _tree(files: Files) -> FileTree:
    return FileTree.from_bytes(files, executable={path for path in files if path.endswith(".py")})


def lock_of(
    skills: dict[str, Files],
    fields: dict[str, dict[str, object]] | None = None,
    unlocked: tuple[UnlockedEntry, ...] = (),
    collection: str = NAME,
) -> CatalogLock:
    """Lock several skills, given as folder to files."""
    every = {f"{path}/{one}": data for path, files in skills.items() for one, data in files.items()}
    return CatalogLock(
        lock_version=1,
        collection=collection,
        algorithms=Algorithms(),
        digests=Digests(
            dir_hash=_tree(every).dir_hash(),
            git_tree=_tree(every).git_tree(
                TreeEntry(entry.path, entry.mode, entry.oid) for entry in unlocked
            ),
        ),
        unlocked=unlocked,
        skills=tuple(
            skill(path, skills[path], **(fields or {}).get(path, {}))
            for path in sorted(skills, key=str.encode)
        ),
    )


def metadata_of(name: str, version: str) -> bytes:
    """Return the core metadata of a distribution; what follows the head is its description."""
    return f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nName: x\n".encode()


def receipt_of(
    lock: CatalogLock,
    *,
    name: str = NAME,
    version: str = VERSION,
    reason: receipts.Reason | None = None,
    source_ref: str | None = "refs/tags/v1.2.0",
) -> receipts.BuildReceipt:
    """Seal a receipt for a lock; with a reason, one that names no commit."""
    clean = reason is None
    return receipts.seal(
        package=receipts.Package(
            name=name,
            version=version,
            metadata_sha256=sha256_hex(metadata_of(name, version)),
            computed=(),
        ),
        catalog=receipts.CatalogClaim(
            sha256=sha256_hex(lock.to_bytes()), git_tree=lock.digests.git_tree
        ),
        inputs=receipts.Inputs(dir_hash="d" * 64, files=("pyproject.toml",)),
        asserted=receipts.Asserted(
            repository="https://example.org/acme/skills", source_ref=source_ref
        ),
        source=receipts.Source(
            state="clean" if clean else "archive" if reason == "not_git_source" else "dirty",
            reason=reason,
            commit=COMMIT if clean else None,
            skills_tree=lock.digests.git_tree if clean else None,
            proof=None,
        ),
    )


@dataclass(kw_only=True)
class Installation:
    """An installed package on disk, and ways to look at it."""

    site: Path
    package: str = PACKAGE
    name: str = NAME
    version: str = VERSION

    @property
    def folder(self) -> Path:
        """The package's folder."""
        return self.site / self.package

    @property
    def bundle(self) -> Path:
        """The folder of lock, receipt and skills."""
        return self.folder / ".agents"

    @property
    def skills(self) -> Path:
        """The folder that locked paths are relative to."""
        return self.bundle / "skills"

    @property
    def lock(self) -> Path:
        """The lock."""
        return self.bundle / "catalog.lock.json"

    @property
    def receipt(self) -> Path:
        """The build receipt."""
        return self.bundle / "build-receipt.json"

    @property
    def dist_info(self) -> Path:
        """The metadata folder."""
        return self.site / f"{self.name.replace('-', '_')}-{self.version}.dist-info"

    @property
    def record(self) -> Path:
        """RECORD."""
        return self.dist_info / "RECORD"

    def locate(self) -> Installed:
        """Find it as the running package would."""
        return installed.locate(
            str(self.folder / "__init__.py"),
            import_name=self.package,
            name=self.name,
            version="0",
        )

    def verify(self) -> Verification:
        """Verify all of it."""
        return bundles.verify_installed(self.locate())

    def open(self) -> bundles.InstalledBundle:
        """Open it as a server would."""
        return bundles.InstalledBundle(self.locate)

    def catalog(self, resources: Resources = "all") -> Catalog:
        """Ask about it as a server would."""
        return Catalog({NAME: self.open()}, resources=resources)

    def write_record(self) -> None:
        """Write RECORD for what lies there now, as some installers do."""
        rows = [
            f"{path.relative_to(self.site).as_posix()},{recorded_digest(path.read_bytes())},"
            f"{path.stat().st_size}"
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.suffix != ".pyc"
        ]
        metadata = self.dist_info / "METADATA"
        data = metadata.read_bytes()
        name = metadata.relative_to(self.site).as_posix()
        rows.append(f"{name},{recorded_digest(data)},{len(data)}")
        own = self.record.relative_to(self.site).as_posix()
        self.record.write_text("\n".join([*rows, f"{own},,", ""]), encoding="utf-8")


def recorded_digest(data: bytes) -> str:
    """Return a digest as RECORD spells it."""
    raw = bytes.fromhex(sha256_hex(data))
    return f"sha256={base64.urlsafe_b64encode(raw).decode().rstrip('=')}"


@dataclass(kw_only=True)
class InstalledBuilder:
    """What to install; every field has a valid default."""

    skills: dict[str, Files] = field(default_factory=lambda: dict(SAMPLE))
    fields: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    unlocked: tuple[UnlockedEntry, ...] = ()
    code: Files = field(default_factory=lambda: dict(CODE))
    name: str = NAME
    version: str = VERSION
    reason: receipts.Reason | None = None
    source_ref: str | None = "refs/tags/v1.2.0"
    collection: str = NAME

    @property
    def lock(self) -> CatalogLock:
        """The lock of these skills."""
        return lock_of(self.skills, self.fields, self.unlocked, self.collection)

    @property
    def receipt(self) -> receipts.BuildReceipt:
        """The receipt of that lock."""
        return receipt_of(
            self.lock,
            name=self.name,
            version=self.version,
            reason=self.reason,
            source_ref=self.source_ref,
        )

    def install(self, site: Path) -> Installation:
        """Lay everything out below `site`, RECORD last."""
        made = Installation(site=site, name=self.name, version=self.version)
        for path, data in self.code.items():
            _write(made.folder / path, data)
        for path, files in self.skills.items():
            for one, data in files.items():
                _write(made.skills / path / one, data)
        _write(made.lock, self.lock.to_bytes())
        _write(made.receipt, self.receipt.to_bytes())
        _write(made.dist_info / "METADATA", metadata_of(self.name, self.version))
        made.write_record()
        return made


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
