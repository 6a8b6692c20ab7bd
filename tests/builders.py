r"""A folder of skills on a real disk, valid to begin with: break one part of it and look.

```python
folder = SkillsFolder(tmp_path)
folder.skill("alpha")
folder.write("alpha/scripts/run.sh", "echo\n", executable=True)
assert [skill.path for skill in folder.scan().skills] == ["alpha"]
```
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle import assemble, receipt
from skills_bundle.project.file_facts import open_facts
from skills_bundle.skills.model import FileFacts
from skills_bundle.skills.rules import Policy
from skills_bundle.skills.scan import scan

if TYPE_CHECKING:
    from skills_bundle.bundle.lock import CatalogLock
    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.skills.model import RefusedSkill, ScanResult, Skill

GIT_ENVIRONMENT: Final = {
    "PATH": os.environ.get("PATH", ""),
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}
"""Git as it is nowhere configured, so that a developer's settings change no test."""


def skill_md(name: str, *, description: str = "Does one thing.", more: str = "") -> str:
    """Give a valid SKILL.md; `more` is further lines of frontmatter."""
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n\n# {name}\n"


def open_way_to(folder: Path) -> None:
    """Let every user reach a test's folder; pytest's own folders are closed to others."""
    top = Path(tempfile.gettempdir()).resolve()
    for parent in [folder, *folder.parents]:
        if parent.resolve() == top:
            break
        parent.chmod(0o755)


class SkillsFolder:
    """A skills folder below a test's own folder.

    Args:
        project: The project's folder, for example pytest's `tmp_path`.
        name: The skills folder in it; `.` for the project itself.
    """

    def __init__(self, project: Path, name: str = "skills") -> None:
        """Make the folder."""
        self.project = project
        self.name = name
        self.path = project / name
        self.path.mkdir(parents=True, exist_ok=True)

    def skill(self, path: str, text: str | bytes | None = None) -> Path:
        """Add a skill; without a text, a valid one named as its folder."""
        if text is None:
            text = skill_md(path.rsplit("/", 1)[-1])
        return self.write(f"{path}/SKILL.md", text)

    def write(self, path: str, data: str | bytes = "", *, executable: bool = False) -> Path:
        """Add a file, byte for byte."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        target.chmod(0o755 if executable else 0o644)
        return target

    def link(self, path: str, leads_to: str) -> Path:
        """Add a symbolic link."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(leads_to)
        return target

    def scan(
        self,
        facts: FileFacts | None = None,
        *,
        exclude: tuple[str, ...] = (),
        strict: bool = False,
        allow: tuple[str, ...] = (),
    ) -> ScanResult:
        """Scan the folder; without facts, by the disk alone."""
        is_project = self.name == "."
        policy = Policy(strict, allow)
        return scan(
            self.path, facts or FileFacts(), exclude=exclude, policy=policy, is_project=is_project
        )

    def lock(self, facts: FileFacts | None = None) -> CatalogLock:
        """Scan the folder and lock it as `sample`."""
        return assemble.lock("sample", self.scan(facts))

    def refused(self, path: str) -> RefusedSkill:
        """Scan the folder and give the one refused skill at this path."""
        return next(skill for skill in self.scan().refused if skill.path == path)

    def accepted(self, path: str) -> Skill:
        """Scan the folder and give the one accepted skill at this path."""
        return next(skill for skill in self.scan().skills if skill.path == path)

    def git(self, *arguments: str) -> str:
        """Run real git in the project, configured by nobody."""
        command = ["git", "-C", str(self.project), *arguments]
        done = subprocess.run(command, capture_output=True, check=True, env=GIT_ENVIRONMENT)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self) -> None:
        """Commit everything there is, making the repository if there is none."""
        if not (self.project / ".git").exists():
            self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Work")

    def git_facts(self) -> FileFacts:
        """Give what git says, read with the product's own reader."""
        found = open_facts(self.project, self.name, None)
        if found.without_git is not None:
            raise AssertionError(found.without_git)
        return found.facts


def codes(skill: Skill | RefusedSkill) -> list[str]:
    """Give the codes of a skill's diagnostics, in their order."""
    return [row.code for row in skill.diagnostics]


def sample_receipt(state: receipt.State = "clean") -> BuildReceipt:
    """Give a valid receipt; of a clean checkout unless said otherwise."""
    clean = state == "clean"
    return receipt.seal(
        package=receipt.Package(
            name="acme-skills", version="1.2.0", metadata_sha256="5" * 64, computed=("version",)
        ),
        catalog=receipt.CatalogClaim(sha256="1" * 64, git_tree="2" * 40),
        inputs=receipt.Inputs(
            dir_hash="3" * 64,
            files=("LICENSE", "pyproject.toml", "skills/alpha/run.sh"),
            executable=("skills/alpha/run.sh",),
        ),
        asserted=receipt.Asserted(
            repository="https://example.org/acme/skills", source_ref="refs/tags/v1.2.0"
        ),
        source=receipt.Source(
            state=state,
            reason=None if clean else "dirty_source",
            commit="4" * 40 if clean else None,
            skills_tree="2" * 40 if clean else None,
            proof=None,
        ),
    )
