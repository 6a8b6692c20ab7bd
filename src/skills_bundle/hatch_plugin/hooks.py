"""Edge: how hatchling finds the hook (entry-point group `hatch`)."""

from __future__ import annotations

from hatchling.plugin import hookimpl

from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook


@hookimpl
def hatch_register_build_hook() -> type[SkillsBundleBuildHook]:
    """Give hatchling the class behind `[tool.hatch.build.hooks.skills-bundle]`."""
    return SkillsBundleBuildHook
