"""What hatchling makes besides the project's files is made again, and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills_bundle.hatch_plugin import selection
from tests.hatch_plugin.sample import (
    SampleProject,
    receipt_of,
    sdist_files,
    unpacked,
    wheel_files,
)

if TYPE_CHECKING:
    from pathlib import Path

DIST_INFO = "acme_skills-1.0.dist-info"
FINALIZING = """\
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

from skills_bundle.hatch_plugin.build_hook import SkillsBundleBuildHook


class Hook(SkillsBundleBuildHook):
    def finalize(self, version, build_data, path):
        place = Path(path)
        if self.target_name == "wheel":
            with zipfile.ZipFile(place) as old:
                rows = [(row, old.read(row)) for row in old.infolist()]
            with zipfile.ZipFile(place, "w") as new:
                for row, data in rows:
                    CHANGE
                    new.writestr(row, data)
        super().finalize(version, build_data, path)


def get_build_hook():
    return Hook
"""


def changing(sample: SampleProject, change: str) -> SampleProject:
    """Let a hook that finalizes before ours change the members of a wheel."""
    script = FINALIZING.replace("CHANGE", change)
    return sample.write("hatch_build.py", script.encode())


def test_it_is_made_again_byte_for_byte(sample: SampleProject) -> None:
    """Of the wheel and of the sdist, with whatever options shape it."""
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\ncore-metadata-version = "2.1"\nsupport-legacy = true\n'
        '[tool.hatch.build.targets.wheel]\ncore-metadata-version = "2.3"',
    )
    sample.replace("pyproject.toml", 'version = "1.0"', 'version = "1.0"\nreadme = "README.md"')
    sample.write("README.md", b"# Acme\n").committed()
    wheel, sdist = wheel_files(sample.wheel()), sdist_files(sample.sdist())
    made = selection.generated_for_wheel(str(sample.folder))
    assert made == {name: wheel[f"{DIST_INFO}/{name}"] for name in made}
    again = selection.generated_for_sdist(str(sample.folder))
    assert again == {name: sdist[name] for name in ("PKG-INFO", "setup.py")}
    assert receipt_of(sample.wheel()).source.state == "clean"


def test_wheel_and_sdist_of_other_metadata_versions_share_one_receipt(
    sample: SampleProject, tmp_path: Path
) -> None:
    """The receipt speaks of the wheel's core metadata, in the sdist too."""
    sample.replace(
        "pyproject.toml",
        "[tool.hatch.build.targets.wheel]",
        '[tool.hatch.build.targets.sdist]\ncore-metadata-version = "2.1"\n'
        "[tool.hatch.build.targets.wheel]",
    ).committed()
    wheel = sample.wheel()
    assert receipt_of(sample.sdist()) == receipt_of(wheel)
    assert unpacked(sample.sdist(), tmp_path / "o").wheel().read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            "data = data.replace(b'Version: 1.0', b'Version: 1.0\\nSummary: Other')",
            f"{DIST_INFO}/METADATA (differs from what the configuration produces)",
        ),
        (
            "data += b'[console_scripts]\\nx = os:abort\\n' * row.filename.endswith('points.txt')",
            f"{DIST_INFO}/entry_points.txt (differs from what the configuration produces)",
        ),
        (
            "data = data.replace(b'Root-Is-Purelib: true', b'Root-Is-Purelib: false')",
            f"{DIST_INFO}/WHEEL (differs from what the configuration produces)",
        ),
        (
            "row.filename = row.filename.replace('run.sh', 'other.sh')",
            "acme_skills/run.sh (was removed from the archive)",
        ),
        (
            "row.filename = row.filename.replace('run.sh', 'other.sh')",
            "acme_skills/other.sh (was put into the archive)",
        ),
        (
            "data = data.replace(b'echo run', b'echo other')",
            "src/acme_skills/run.sh",
        ),
        (
            "data = data.replace(b'print(1)', b'print(2)')",
            "tool.py",
        ),
        (
            "data = data.replace(b'#!python', b'#!/bin/other')",
            "tool.py",
        ),
    ],
)
def test_what_another_hook_does_to_a_finished_wheel_is_noticed(
    sample: SampleProject, capsys: pytest.CaptureFixture[str], change: str, named: str
) -> None:
    """The hook is committed; what it writes comes from no file of the commit."""
    sample.write("tool.py", b"#!/usr/bin/env python3\nprint(1)\n")
    sample.configure('[tool.hatch.build.targets.wheel.shared-scripts]\n"tool.py" = "tool.py"')
    wheel = changing(sample, change).committed().wheel()
    told = capsys.readouterr().err
    assert receipt_of(wheel).source.reason == "dirty_source"
    assert named in told


def test_a_hook_that_changes_nothing_is_no_dirt(sample: SampleProject) -> None:
    """A script's first line is hatchling's to rewrite, for installers."""
    sample.write("tool.py", b"#!/usr/bin/env python3 -I\nprint(1)\n")
    sample.configure('[tool.hatch.build.targets.wheel.shared-scripts]\n"tool.py" = "tool.py"')
    wheel = changing(sample, "pass").committed().wheel()
    script = wheel_files(wheel)["acme_skills-1.0.data/scripts/tool.py"]
    assert script == b"#!python -I\nprint(1)\n"
    assert receipt_of(wheel).source.state == "clean"


def test_an_sdist_whose_wheel_a_hook_changes_relays_nothing(
    sample: SampleProject, tmp_path: Path
) -> None:
    """There is no commit to compare with; what hatchling would make is known all the same."""
    change = "row.filename = row.filename.replace('run.sh', 'other.sh')"
    inside = unpacked(changing(sample, change).committed().sdist(), tmp_path / "out")
    assert receipt_of(inside.wheel()).source.reason == "not_git_source"


def test_a_dependency_that_a_hook_adds_is_dirt(sample: SampleProject) -> None:
    """The receipt's digest is of the metadata that ships, whoever wrote it."""
    script = FINALIZING.replace("CHANGE", "pass").replace(
        "    def finalize",
        "    def initialize(self, version, build_data):\n"
        "        build_data['dependencies'].append('other')\n"
        "        super().initialize(version, build_data)\n\n"
        "    def finalize",
    )
    wheel = sample.write("hatch_build.py", script.encode()).committed().wheel()
    assert b"Requires-Dist: other" in wheel_files(wheel)[f"{DIST_INFO}/METADATA"]
    assert receipt_of(wheel).source.reason == "dirty_source"
