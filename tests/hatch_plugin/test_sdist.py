"""What an sdist holds, whatever the project selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hatch_plugin.sample import SampleProject, receipt_of, sdist_files, unpacked

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = 'only-include = ["src"]\ncore-metadata-version = "2.4"\n'


def test_lock_skills_and_receipt_are_in_an_sdist_that_selects_none_of_them(
    sample: SampleProject, tmp_path: Path
) -> None:
    """Without them no wheel could be built from it."""
    sample.configure(f"\n[tool.hatch.build.targets.sdist]\n{MINIMAL}").committed()
    sdist = sample.sdist()
    assert {
        "catalog.lock.json",
        "build-receipt.json",
        "skills/greet/SKILL.md",
        "skills/greet/scripts/hi.sh",
    } <= {*sdist_files(sdist)}
    wheel = unpacked(sdist, tmp_path / "out").wheel()
    assert wheel.read_bytes() == sample.wheel().read_bytes()
    assert receipt_of(wheel).source.commit == sample.commit_id()


def test_what_the_skills_folder_holds_besides_skills_stays_out(sample: SampleProject) -> None:
    """The lock records it for the tree id; it does not ship."""
    sample.write("skills/README.md", b"# For editors\n").locked().committed()
    assert "skills/README.md" not in sdist_files(sample.sdist())


def test_the_wheel_from_such_an_sdist_is_the_same(sample: SampleProject, tmp_path: Path) -> None:
    """The lock's own record stands in for the files that did not ship."""
    sample.write("skills/README.md", b"# For editors\n").locked().committed()
    inside = unpacked(sample.sdist(), tmp_path / "out")
    assert inside.wheel().read_bytes() == sample.wheel().read_bytes()


def test_an_empty_file_ships(sample: SampleProject) -> None:
    """Nothing is mistaken for nothing."""
    sample.write("src/acme_skills/py.typed", b"").committed()
    assert sdist_files(sample.sdist())["src/acme_skills/py.typed"] == b""


def test_a_dangling_link_does_not_ship_and_is_said_to(sample: SampleProject) -> None:
    """Hatchling would ship the link; whoever unpacks it would get nothing, or something else."""
    (sample.folder / "notes").symlink_to("nowhere")
    sdist = sample.committed().sdist()
    assert "notes" not in sdist_files(sdist)
    assert receipt_of(sdist).source.reason == "dirty_source"


def test_a_setup_py_that_hatchling_writes_is_no_input(
    sample: SampleProject, tmp_path: Path
) -> None:
    """`support-legacy` makes it from the metadata, which are an input; wheels stay the same."""
    table = "\n[tool.hatch.build.targets.sdist]\nsupport-legacy = true\n"
    sdist = sample.configure(table).committed().sdist()
    assert "setup.py" in sdist_files(sdist)
    wheel = unpacked(sdist, tmp_path / "out").wheel()
    assert wheel.read_bytes() == sample.wheel().read_bytes()
