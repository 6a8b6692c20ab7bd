"""Edge: makes this project's build use the hook in `src/`, not an installed one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook


def get_build_hook() -> type[SkillsBundleBuildHook]:
    """Return the hook class; hatchling calls a function of this name."""
    sys.dont_write_bytecode = True  # nothing is written into the source tree
    source = Path(__file__).resolve().parent.parent / "src"
    sys.path[:] = [str(source), *(path for path in sys.path if path != str(source))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "skills_bundle"]:
        place = getattr(sys.modules[name], "__file__", None)
        if place is None or not Path(place).is_relative_to(source):
            del sys.modules[name]  # an installed copy would build by another version's rules
    from skills_bundle.hatch_plugin.build_hook import (  # noqa: PLC0415 - needs the path set above
        SkillsBundleBuildHook,
    )

    return SkillsBundleBuildHook
