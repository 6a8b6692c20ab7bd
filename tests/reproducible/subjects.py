"""Edge: the two projects that are built: ours with its own script, and a foreign one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.hatch_plugin.sample import SampleProject
from tests.reproducible.room import Room, git

ROOT: Final = Path(__file__).resolve().parents[2]

METADATA: Final = 'core-metadata-version = "2.4"'
SDIST: Final = f'[tool.hatch.build.targets.sdist]\n{METADATA}\nexclude = ["/scratch"]'


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One project.

    Attributes:
        name: In the table.
        origin: A repository that is cloned and never changed.
        work: For plain builds.
        package: Folder of the package.
        code: A Python file that ships, and could be missing.
        skill: A SKILL.md.
        script: A file that git tracks as executable.
        shared: What all rooms share.
    """

    name: str
    origin: Path
    work: Path
    package: str
    code: str
    skill: str
    script: str
    shared: Path
    built: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def commit(self) -> str:
        """The commit that is built unless a variation makes another."""
        return git(self.origin, "rev-parse", "HEAD").strip()

    def reference(self, commit: str | None, checkout: Path) -> dict[str, bytes]:
        """Return the archives of a plain build of a commit, by kind.

        Args:
            commit: Full id; None for the commit that everything starts from.
            checkout: Where to find a commit that a variation made.
        """
        with self.lock:
            wanted = commit or self.commit
            if wanted not in self.built:
                origin = self.origin if wanted == self.commit else checkout
                self.built[wanted] = self._build(wanted, origin)
            return self.built[wanted]

    def _build(self, commit: str, origin: Path) -> dict[str, bytes]:
        room = Room(self, self.work / commit, self.shared)
        room.folder.mkdir(parents=True)
        git(room.folder, "clone", "--quiet", "--no-checkout", str(origin), "project")
        project = room.folder / "project"
        git(project, "-c", "advice.detachedHead=false", "checkout", "--quiet", commit)
        room.build(project)
        kinds = {"wheel": "*.whl", "sdist": "*.tar.gz"}
        return {kind: next(room.out.glob(pattern)).read_bytes() for kind, pattern in kinds.items()}


def ours(folder: Path, shared: Path) -> Subject:
    """Clone HEAD of this checkout; what is not committed is not built."""
    origin = folder / "origin"
    folder.mkdir(parents=True)
    git(folder, "clone", "--quiet", str(ROOT), str(origin))
    skill = min(path.relative_to(origin).as_posix() for path in origin.glob("skills/*/SKILL.md"))
    return Subject(
        name="skills-bundle",
        origin=origin,
        work=folder / "plain",
        package="src/skills_bundle",
        code="src/skills_bundle/cli/view/report.py",
        skill=skill,
        script=_script(origin),
        shared=shared,
    )


def _script(origin: Path) -> str:
    rows = (line.split("\t") for line in git(origin, "ls-files", "-s", "skills").splitlines())
    return next((path for mode, path in rows if mode.startswith("100755")), "")


def foreign(folder: Path, shared: Path) -> Subject:
    """Make a small project of somebody else's that uses the registered plugin."""
    sample = SampleProject.create(folder / "origin")
    (sample.folder / "hatch_build.py").unlink()
    sample.replace("pyproject.toml", '["hatchling"]', '["hatchling", "skills-bundle"]')
    sample.replace("pyproject.toml", "hooks.custom", "hooks.skills-bundle")
    sample.replace("pyproject.toml", "ignore-vcs = true", f"ignore-vcs = true\n\n{SDIST}")
    sample.replace("pyproject.toml", "packages = [", f"{METADATA}\npackages = [")
    for path in ("extra.py", "größe.py", "日本/__init__.py", "日本/x.txt"):
        sample.write(f"src/acme_skills/{path}", b"# text\n")
    sample.write("README.md", b"# Acme\n").write(
        ".gitattributes", b"skills/** -text\ncatalog.lock.json -text\n"
    )
    sample.locked().committed()
    git(sample.folder, "commit", "--quiet", "--allow-empty", "-m", "One more")
    return Subject(
        name="foreign",
        origin=sample.folder,
        work=folder / "plain",
        package="src/acme_skills",
        code="src/acme_skills/extra.py",
        skill="skills/greet/SKILL.md",
        script="skills/greet/scripts/hi.sh",
        shared=shared,
    )
