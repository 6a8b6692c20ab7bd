"""Edge: what hatchling calls. One class, registered as a plugin and loaded by our own build script.

Before the build: everything that can be wrong is found and told at once. After it: hatchling's
archive is read back, closed to what the commit holds, given the bundle and its receipt, and
written in one form of bytes. Nothing is written into the source tree, and no temporary folder is
made: what hatchling read is taken from its archive, and the skills from memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

from skills_bundle.errors import Problem, SettingsError, SkillsBundleError
from skills_bundle.files.names import to_disk
from skills_bundle.files.writing import replace_file
from skills_bundle.git import limits
from skills_bundle.git.repository import has_repository
from skills_bundle.hatch_plugin import bundling, handover, sdist, selection, wheel
from skills_bundle.project.settings import parse

if TYPE_CHECKING:
    from collections.abc import Generator

    from skills_bundle.hatch_plugin.bundling import Bundling
    from skills_bundle.hatch_plugin.sdist import Made
    from skills_bundle.hatch_plugin.selection import Builder, Metadata

PYGIT2: Final = "pygit2>=1.18,<2"
"""What a build inside a checkout needs besides; the same as in our own dependencies."""
TARGETS: Final = ("wheel", "sdist")
ARTIFACTS: Final = (".whl", ".tar.gz")
EDITABLE: Final = "editable"


class SkillsBundleBuildHook(BuildHookInterface[BuilderConfig]):
    """Ship the project's skills with their lock and a build receipt.

    In the wheel they lie at `<package>/.agents/`; the sdist has them where the project has them,
    and the receipt at its root. An editable build is left alone: its files are served from the
    source, and a stale lock must not keep anyone from installing the tool that mends it.
    """

    PLUGIN_NAME = "skills-bundle"

    _bundling: Bundling | None = None
    _made: Made | None = None

    def dependencies(self) -> list[str]:
        """Ask for pygit2 where there is a checkout to look at, and only there."""
        return [PYGIT2] if has_repository(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Check settings, skills and lock; end the build with every problem if one is wrong.

        Args:
            version: hatchling's name of the kind of build; `editable` is left alone.
            build_data: What the hooks share.
        """
        self._bundling = self._made = None
        if self.target_name not in TARGETS or version == EDITABLE:
            return
        with self._told():
            self._demand_last(build_data)
            metadata = self._metadata()
            settings = parse(self.config, self._where(), metadata.core.raw_name)
            self._bundling = bundling.prepare(self.root, metadata, settings, self._own)
        selection.respell(self._builder())
        if self._is_alone(build_data):
            handover.take_over(
                self.target_name,
                self._builder(),
                lambda archive: self._finished(archive, build_data).data,
            )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Tell what was built; finish the archive first if hatchling has already put it in place.

        Args:
            version: As for `initialize`.
            build_data: What the hooks share.
            artifact_path: The archive that hatchling wrote.
        """
        del version
        if self._bundling is None:
            return
        made = self._made or self._rewritten(Path(artifact_path), build_data)
        self._report(self._bundling, made)

    def _rewritten(self, artifact: Path, build_data: dict[str, Any]) -> Made:
        """Finish an archive in its place; remove it if that fails."""
        try:
            made = self._finished(artifact.read_bytes(), build_data)
            replace_file(artifact, made.data)
        except BaseException:
            artifact.unlink(missing_ok=True)
            raise
        return made

    def _finished(self, archive: bytes, build_data: dict[str, Any]) -> Made:
        """Give the archive with its bundle, in its one form, for the one that hatchling wrote."""
        bundled = cast("Bundling", self._bundling)
        write = wheel.rewritten if self.target_name == "wheel" else sdist.rewritten
        with self._told():
            self._made = write(bundled, self._builder(), build_data, archive)
        return self._made

    # hatchling leaves the parameters of its own generics open; they are plugin types we never use.
    def _metadata(self) -> Metadata:
        return self.metadata  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _builder(self) -> Builder:
        return self.build_config.builder  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def _where(self) -> str:
        """Give the dotted TOML path of our table."""
        hooks = cast("dict[str, object]", self.build_config.target_config.get("hooks", {}))
        if self.PLUGIN_NAME in hooks:
            return f"tool.hatch.build.targets.{self.target_name}.hooks.{self.PLUGIN_NAME}"
        return f"tool.hatch.build.hooks.{self.PLUGIN_NAME}"

    def _demand_last(self, build_data: dict[str, Any]) -> None:
        """Insist on running last: a hook after this one could change what the receipt speaks of."""
        hooks = build_data["build_hooks"]
        if hooks[-1] != self.PLUGIN_NAME:
            message = f"must be the last build hook; after it come {', '.join(_after(self, hooks))}"
            problem = Problem(code="hook_order", message=message, path=self._where())
            raise SettingsError("The build hooks are in the wrong order.", (problem,))

    def _is_alone(self, build_data: dict[str, Any]) -> bool:
        """Tell whether nothing else can change the archive: no other hook, nor one made of this."""
        alone = build_data["build_hooks"] == (self.PLUGIN_NAME,)
        return alone and type(self) is SkillsBundleBuildHook

    def _own(self, path: str) -> bool:
        """Tell whether a path is an archive in the folder this build writes to."""
        place = Path(self.root, to_disk(path))
        return place.parent == Path(self.root, self.directory) and path.endswith(ARTIFACTS)

    @contextmanager
    def _told(self) -> Generator[None]:
        """End the build with our sentences instead of a traceback."""
        try:
            yield
        except SkillsBundleError as error:
            self._abort(error)

    def _abort(self, error: SkillsBundleError) -> NoReturn:
        shown = error.problems[: limits.BUILD_PROBLEMS_SHOWN]
        lines = ["", f"skills-bundle: {error.summary}", *(f"  {problem}" for problem in shown)]
        if len(error.problems) > len(shown):
            more = len(error.problems) - len(shown)
            lines.append(f"  … and {more} more; `skills-bundle lock --check` lists them all.")
        self.app.display_error("\n".join(lines))
        raise SystemExit(1) from error

    def _report(self, bundling: Bundling, made: Made) -> None:
        """Say in the build log what ships, and what the receipt must not hold: local files."""
        lock, source = bundling.lock, made.receipt.source
        shipped = f"{_count(len(lock.skills), 'skill')} with {_count(len(lock.files()), 'file')}"
        if source.state == "clean":
            text = f"{shipped}; built from commit {source.commit}"
            if computed := made.receipt.package.computed:
                text += f", which does not give: {', '.join(computed)}"
            self.app.display_info(f"skills-bundle: {text}")
        else:
            text = f"{shipped}; the receipt names no commit: {source.reason}. {made.detail}"
            self.app.display_warning(f"skills-bundle: {text.rstrip()}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _after(hook: SkillsBundleBuildHook, hooks: tuple[str, ...]) -> tuple[str, ...]:
    return hooks[hooks.index(hook.PLUGIN_NAME) + 1 :]
