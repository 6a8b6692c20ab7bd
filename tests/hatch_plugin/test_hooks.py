"""How hatchling finds the hook."""

from __future__ import annotations

from hatchling.plugin.manager import PluginManager

from skills_bundle.hatch_plugin import hooks
from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook


def test_hatchling_finds_the_hook_under_its_name() -> None:
    """Registered as a plugin, the class answers to `skills-bundle`."""
    manager = PluginManager()
    manager.manager.register(hooks)
    assert manager.build_hook.get("skills-bundle") is SkillsBundleBuildHook
