"""`statement`: written beside a real wheel, never over another file, never about a broken one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import call
from tests.hatch_plugin.sample import SampleProject


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Return a real wheel."""
    return SampleProject.create(tmp_path / "acme").wheel()


def beside(wheel: Path) -> Path:
    """Return the path of its statement."""
    return wheel.with_name(f"{wheel.name}.provenance.json")


def test_it_is_written_beside_the_file(wheel: Path) -> None:
    """The output has the command that signs it."""
    ran = call("statement", str(wheel))
    assert ran.code == 0
    assert "unsigned, so at most SLSA Build L1" in ran.stdout
    assert f"ssh-keygen -Y sign -n skills-bundle-statement -f KEY {beside(wheel)}" in ran.stderr
    (subject,) = json.loads(beside(wheel).read_bytes())["subject"]
    assert subject["name"] == wheel.name


def test_a_second_run_changes_nothing(wheel: Path) -> None:
    """A current file is not written."""
    call("statement", str(wheel))
    before = beside(wheel).stat().st_mtime_ns
    ran = call("statement", str(wheel))
    assert (ran.code, beside(wheel).stat().st_mtime_ns) == (0, before)
    assert "exists already" in " ".join(ran.stdout.split())


def test_it_can_be_printed(wheel: Path) -> None:
    """The same bytes, and no file."""
    printed = call("statement", str(wheel), "-o", "-").stdout
    assert not beside(wheel).exists()
    call("statement", str(wheel))
    assert printed.encode() == beside(wheel).read_bytes()


def test_it_can_be_written_to_another_path(wheel: Path, tmp_path: Path) -> None:
    """With any name."""
    assert call("statement", str(wheel), "--output", str(tmp_path / "other.json")).code == 0
    assert (tmp_path / "other.json").exists()


def test_an_unwritable_path_is_reported_as_given(wheel: Path, tmp_path: Path) -> None:
    """The message does not name a temporary file."""
    folder = tmp_path / "nowhere"
    ran = call("statement", str(wheel), "-o", str(folder / "other.json"))
    assert (ran.code, ran.stderr.splitlines()[0]) == (2, f"error: {folder} is not a folder.")


def test_another_file_is_not_replaced(wheel: Path) -> None:
    """Exit 2, unless forced."""
    beside(wheel).write_text("mine", encoding="utf-8")
    ran = call("statement", str(wheel))
    assert (ran.code, beside(wheel).read_text(encoding="utf-8")) == (2, "mine")
    assert "add --force" in ran.stderr
    assert call("statement", str(wheel), "--force").code == 0
    assert beside(wheel).read_text(encoding="utf-8") != "mine"


def test_a_device_is_neither_read_nor_replaced(wheel: Path) -> None:
    """Not even if forced: `/dev/zero` has no end, and `/dev/null` has many users."""
    for more in ([], ["--force"]):
        ran = call("statement", str(wheel), "-o", "/dev/zero", *more)
        assert (ran.code, "is not a regular file" in ran.stderr) == (2, True)
    assert Path("/dev/zero").is_char_device()


def test_a_missing_folder_is_reported(wheel: Path, tmp_path: Path) -> None:
    """The message does not name a temporary file."""
    ran = call("statement", str(wheel), "-o", str(tmp_path / "none/x.json"))
    assert (ran.code, f"{tmp_path / 'none'} is not a folder" in ran.stderr) == (2, True)


def test_the_json_output_says_what_was_written(wheel: Path) -> None:
    """The path, whether the file was new, and the statement."""
    rows = [call("statement", str(wheel), "--json").json for _ in range(2)]
    assert [one["written"] for one in rows] == [True, False]
    assert rows[0]["path"] == str(beside(wheel))
    assert rows[0]["statement"] == json.loads(beside(wheel).read_bytes())


def test_json_and_standard_output_cannot_be_combined(wheel: Path) -> None:
    """The statement is JSON itself."""
    assert call("statement", str(wheel), "--json", "-o", "-").code == 2


def test_a_wheel_that_does_not_verify_gets_no_statement(tmp_path: Path) -> None:
    """Exit 1, with the problem and the command that reports more."""
    sample = SampleProject.create(tmp_path / "acme")
    wheel = sample.wheel()
    data = wheel.read_bytes()
    old, new = b"# Greet", b"# Greed"
    assert data.count(old) == 1
    broken = tmp_path / wheel.name
    broken.write_bytes(data.replace(old, new))
    ran = call("statement", str(broken))
    assert ran.code == 1
    assert not beside(broken).exists()


def test_a_wheel_without_a_bundle_gets_no_statement(tmp_path: Path) -> None:
    """Exit 3, like `verify-wheel`."""
    sample = SampleProject.create(tmp_path / "acme")
    text = (sample.folder / "pyproject.toml").read_text(encoding="utf-8")
    head = text.partition("[tool.hatch.build.hooks.custom]")[0]
    wheel = sample.write("pyproject.toml", head.encode()).committed().wheel()
    ran = call("statement", str(wheel))
    assert ran.code == 3
    assert "skills-bundle verify-wheel" in ran.stderr


def test_a_missing_file_cannot_be_verified(tmp_path: Path) -> None:
    """Exit 3, as for every command that opens an archive."""
    assert call("statement", str(tmp_path / "acme-1-py3-none-any.whl")).code == 3
