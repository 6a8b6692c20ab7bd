"""Edge: what hatchling calls. One class, registered as a plugin and loaded by our own build script.

Before the build everything that can be wrong is found and reported at once. After it hatchling's
archive is read, removed, and written again: only with what the commit holds, with the bundle and
its receipt, in canonical form. Nothing is written into the source tree, and no temporary folder is
made: what hatchling read is taken from its archive, and the skills from memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from skills_bundle.errors import Problem, SettingsError, SkillsBundleError
from skills_bundle.files.writing import replace_file
from skills_bundle.git import limits
from skills_bundle.git.repository import has_repository
from skills_bundle.hatch_plugin import archives, receipt, selection
from skills_bundle.project.settings import parse

if TYPE_CHECKING:
    from collections.abc import Generator

    from skills_bundle.hatch_plugin.archives import FinishedArchive
    from skills_bundle.hatch_plugin.receipt import Build
    from skills_bundle.hatch_plugin.selection import Builder, Metadata

PYGIT2: Final = "pygit2>=1.18,<2"
"""What a build inside a checkout needs as well; the same as in our own dependencies."""
TARGETS: Final = ("wheel", "sdist")
EDITABLE: Final = "editable"


class SkillsBundleBuildHook(BuildHookInterface[BuilderConfig]):
    """Ship the project's skills with their lock and a build receipt.

    In the wheel they lie at `<package>/.agents/`; the sdist has them where the project has them,
    and the receipt at its root. An editable build is left alone: its files are served from the
    source, and a stale lock must not block installing the tool that updates it.
    """

    PLUGIN_NAME = "skills-bundle"

    _build: Build | None = None

    def dependencies(self) -> list[str]:
        """Return pygit2 where there is a checkout to read, and only there."""
        return [PYGIT2] if has_repository(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Check settings, skills and lock; end the build with every problem if one is wrong.

        Args:
            version: hatchling's name of the kind of build; `editable` is left alone.
            build_data: What the hooks share.
        """
        self._build = None
        if self.target_name not in TARGETS or version == EDITABLE:
            return
        with self._errors_reported():
            self._require_last(build_data)
            metadata = self._metadata()
            settings = parse(self.config, self._where(), metadata.core.raw_name)
            self._build = receipt.prepare(self.root, metadata, settings, self.directory)
        selection.respell(self._builder())

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Finish the archive and report what was built.

        hatchling's own archive is removed before the finished one is made, so that a build that
        fails or is killed meanwhile leaves no archive without a bundle.

        Args:
            version: As for `initialize`.
            build_data: What the hooks share.
            artifact_path: The archive that hatchling wrote.
        """
        del version
        if self._build is None:
            return
        artifact = Path(artifact_path)
        archive = artifact.read_bytes()
        artifact.unlink()
        finish = archives.finish_wheel if self.target_name == "wheel" else archives.finish_sdist
        with self._errors_reported():
            finished = finish(self._build, self._builder(), build_data, archive)
            replace_file(artifact, finished.data)
        self._report(self._build, finished)

    # hatchling leaves the parameters of its own generics open; they are plugin types we never use.
    def _metadata(self) -> Metadata:
        return self.metadata  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _builder(self) -> Builder:
        return self.build_config.builder  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _where(self) -> str:
        """Return the dotted TOML path of our table."""
        hooks = cast("dict[str, object]", self.build_config.target_config.get("hooks", {}))
        if self.PLUGIN_NAME in hooks:
            return f"tool.hatch.build.targets.{self.target_name}.hooks.{self.PLUGIN_NAME}"
        return f"tool.hatch.build.hooks.{self.PLUGIN_NAME}"

    def _require_last(self, build_data: dict[str, Any]) -> None:
        """Raise unless this hook runs last: a later one could change what the receipt describes."""
        hooks: tuple[str, ...] = build_data["build_hooks"]
        if hooks[-1] != self.PLUGIN_NAME:
            later = ", ".join(hooks[hooks.index(self.PLUGIN_NAME) + 1 :])
            message = f"must be the last build hook; these come after it: {later}"
            problem = Problem(code="hook_order", message=message, path=self._where())
            raise SettingsError("The build hooks are in the wrong order.", (problem,))

    @contextmanager
    def _errors_reported(self) -> Generator[None]:
        """End the build with a short message instead of a traceback."""
        try:
            yield
        except SkillsBundleError as error:
            self._abort(error)
        except OSError as error:  # a full disk, or a file that may not be read
            path = None if error.filename is None else str(error.filename)
            problem = Problem(code="system", message=error.strerror or str(error), path=path)
            self._abort(SkillsBundleError("A file cannot be read or written.", (problem,)))

    def _abort(self, error: SkillsBundleError) -> NoReturn:
        problems = error.problems[: limits.BUILD_PROBLEMS_SHOWN]
        lines = ["", f"skills-bundle: {error.summary}", *(f"  {problem}" for problem in problems)]
        if len(error.problems) > len(problems):
            more = len(error.problems) - len(problems)
            lines.append(f"  … and {more} more; `skills-bundle lock --check` lists them all.")
        self.app.display_error("\n".join(lines))
        raise SystemExit(1) from error

    def _report(self, build: Build, finished: FinishedArchive) -> None:
        """Write to the build log what ships, and the local files that the receipt must not name."""
        lock, source = build.lock, finished.receipt.source
        shipped = f"{_count(len(lock.skills), 'skill')} with {_count(len(lock.files()), 'file')}"
        if source.state == "clean":
            text = f"{shipped}; built from commit {source.commit}"
            if computed := finished.receipt.package.computed:
                text += f", which does not determine: {', '.join(computed)}"
            self.app.display_info(f"skills-bundle: {text}")
        else:
            text = f"{shipped}; the receipt names no commit: {source.reason}. {finished.detail}"
            self.app.display_warning(f"skills-bundle: {text.rstrip()}")
        for warning in finished.warnings:
            self.app.display_warning(f"skills-bundle: {warning}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@hookimpl
def hatch_register_build_hook() -> type[SkillsBundleBuildHook]:
    """Return the class behind `[tool.hatch.build.hooks.skills-bundle]`, for hatchling."""
    return SkillsBundleBuildHook
