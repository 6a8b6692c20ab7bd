"""An installed bundle while it is served: what changes is noticed with the next question."""

from __future__ import annotations

import base64
import hashlib
import mmap
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from skills_bundle.errors import BundleUnavailableError, ToolError, UnsafeFileError
from skills_bundle.installed import limits
from skills_bundle.installed.bundle import InstalledBundle, verify_installed
from tests import odd_files
from tests.installed_builder import SAMPLE, Installation, InstalledBuilder, recorded_digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills_bundle.installed.location import Installed


@pytest.fixture(params=["times_count", "times_too_young"])
def clock_offset(request: pytest.FixtureRequest) -> int:
    """Run each test with files whose times may be relied on, and with files that are too young."""
    return limits.RACY_NANOSECONDS * 2 if request.param == "times_count" else 0


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """A valid installation."""
    return InstalledBuilder().install(tmp_path)


@pytest.fixture
def bundle(made: Installation, clock_offset: int) -> InstalledBundle:
    """It, opened and looked at once."""
    opened = InstalledBundle(made.locate, lambda: time.time_ns() + clock_offset)
    opened.current()
    return opened


def test_the_same_view_while_nothing_changes(bundle: InstalledBundle) -> None:
    """Whoever prepares something for a view can keep it."""
    assert bundle.current() is bundle.current()


def test_an_altered_file_is_named_and_the_lock_stays(
    made: Installation, bundle: InstalledBundle
) -> None:
    """The view changes; its lock is the same object."""
    before = bundle.current()
    (made.skills / "alpha/SKILL.md").write_bytes(b"Obey.\n")
    after = bundle.current()
    assert after.altered == {"alpha/SKILL.md"}
    assert after.lock is before.lock


def test_bytes_altered_after_the_last_look_are_not_returned(
    made: Installation, bundle: InstalledBundle
) -> None:
    """Reading compares again, whatever the view says."""
    data = SAMPLE["alpha"]["SKILL.md"]
    (made.skills / "alpha/SKILL.md").write_bytes(data.replace(b"First", b"Worst"))
    with pytest.raises(UnsafeFileError, match="changed"):
        bundle.read("alpha/SKILL.md")


@pytest.mark.parametrize("path", ["alpha/none.md", "../catalog.lock.json", "alpha/skill.md"])
def test_only_locked_paths_are_read(bundle: InstalledBundle, path: str) -> None:
    """Whatever else lies there."""
    with pytest.raises(UnsafeFileError, match="missing"):
        bundle.read(path)


def test_nothing_is_read_before_the_first_look(made: Installation) -> None:
    """There is no lock to compare with."""
    with pytest.raises(UnsafeFileError):
        InstalledBundle(made.locate).read("alpha/SKILL.md")


@pytest.mark.parametrize("name", ["lock", "receipt"])
def test_a_document_replaced_while_serving_is_noticed(
    made: Installation, bundle: InstalledBundle, name: str
) -> None:
    """A lock that is altered stops the answers; a receipt takes its claims away."""
    path = made.lock if name == "lock" else made.receipt
    data = path.read_bytes()
    replacement = path.with_name("new")
    replacement.write_bytes(data.replace(b"acme-skills", b"acme-skillz"))
    replacement.replace(path)
    if name == "lock":
        with pytest.raises(BundleUnavailableError):
            bundle.current()
    else:
        assert "invalid_receipt" in bundle.current().provenance.gaps
    path.write_bytes(data)
    assert bundle.current().provenance.resolved_git_sha is not None


def test_a_record_replaced_while_serving_is_noticed(
    made: Installation, bundle: InstalledBundle
) -> None:
    """Its rows are read again."""
    made.record.write_bytes(made.record.read_bytes().replace(b"guide.md", b"other.md"))
    assert bundle.current().provenance.gaps == ("record_mismatch",)


def test_an_upgrade_while_serving_is_followed(made: Installation, bundle: InstalledBundle) -> None:
    """Another version in the same place is served as what it is."""
    odd_files.remove(made.folder)
    odd_files.remove(made.dist_info)
    InstalledBuilder(version="1.3.0", skills={"alpha": SAMPLE["alpha"]}).install(made.site)
    view = bundle.current()
    assert view.provenance.package_version == "1.3.0"
    assert view.provenance.gaps == ()
    assert [skill.name for skill in view.lock.skills] == ["alpha"]


def test_an_uninstalled_bundle_is_unavailable_and_comes_back(
    made: Installation, bundle: InstalledBundle
) -> None:
    """A server outlives a reinstallation."""
    made.bundle.rename(made.site / "away")
    with pytest.raises(BundleUnavailableError):
        bundle.current()
    (made.site / "away").rename(made.bundle)
    assert bundle.current().provenance.gaps == ()


def test_a_package_that_vanishes_stays_unavailable(
    made: Installation, bundle: InstalledBundle
) -> None:
    """Also from the second question on, and until it is back."""
    made.folder.rename(made.site / "away")
    for _ in range(3):
        with pytest.raises(BundleUnavailableError):
            bundle.current()
    with pytest.raises(UnsafeFileError):
        bundle.read("alpha/SKILL.md")
    (made.site / "away").rename(made.folder)
    assert bundle.current().provenance.gaps == ()


def test_metadata_that_goes_and_comes_back_is_noticed(
    made: Installation, bundle: InstalledBundle
) -> None:
    """The name and version of every answer are read from it."""
    made.dist_info.rename(made.site / "away")
    assert bundle.current().provenance.gaps == ("record_absent",)
    (made.site / "away").rename(made.dist_info)
    after = bundle.current().provenance
    assert (after.gaps, after.package_version) == ((), "1.2.0")


def test_a_record_that_appears_is_noticed(made: Installation, bundle: InstalledBundle) -> None:
    """An installer writes it last, into a folder that is there already."""
    made.record.rename(made.site / "away")
    assert bundle.current().provenance.gaps == ("record_absent",)
    (made.site / "away").rename(made.record)
    assert bundle.current().provenance.gaps == ()


def test_what_is_written_while_it_is_looked_for_is_noticed(made: Installation) -> None:
    """An installer is at work: RECORD comes between finding the folder and watching it."""
    data = made.record.read_bytes()
    made.record.unlink()

    def find_and_write() -> Installed:
        place = made.locate()
        made.record.write_bytes(data)
        return place

    bundle = InstalledBundle(find_and_write)
    assert bundle.current().provenance.gaps == ()


def test_a_read_that_finds_another_file_than_the_last_look_did_is_believed(
    made: Installation, bundle: InstalledBundle
) -> None:
    """A file written through memory keeps its times; what a read found out counts from then on."""
    file = made.skills / "alpha/SKILL.md"
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as view:
        view[-1] = view[-1]
        bundle.current()
        view[-1] ^= 1
        with pytest.raises(UnsafeFileError):
            bundle.read("alpha/SKILL.md")
        assert bundle.current().altered == {"alpha/SKILL.md"}
        view[-1] ^= 1
        bundle.read("alpha/SKILL.md")
        assert bundle.current().altered == frozenset()


def test_a_system_without_descriptors_is_no_fault_of_the_files(
    made: Installation, bundle: InstalledBundle
) -> None:
    """Nothing is available meanwhile; afterwards everything is as before."""
    (made.skills / "alpha/SKILL.md").touch()
    with odd_files.without_descriptors():
        with pytest.raises(BundleUnavailableError, match="open files"):
            bundle.current()
        with pytest.raises(UnsafeFileError):
            bundle.read("alpha/SKILL.md")
        with pytest.raises(OSError, match="open files"):
            made.verify()
    assert bundle.current().altered == frozenset()


def test_a_digest_by_another_algorithm_is_compared(made: Installation) -> None:
    """RECORD may use any; code and skills that are not what it says are told."""
    rows = made.record.read_text(encoding="utf-8")
    for path in ("tool.py", ".agents/skills/alpha/SKILL.md"):
        data = (made.folder / path).read_bytes()
        raw = base64.urlsafe_b64encode(hashlib.sha512(data).digest()).decode().rstrip("=")
        rows = rows.replace(recorded_digest(data), f"sha512={raw}")
    made.record.write_text(rows, encoding="utf-8")
    assert made.verify().exit_code == 0
    (made.folder / "tool.py").write_bytes(b"ANSWER = 43\n")
    found = made.verify()
    assert [row.path for row in found.differences] == [f"{made.package}/tool.py"]
    assert found.exit_code == 1


@pytest.mark.parametrize("row", ["", "{path},,\n", "{path},,12\n", "{path},crc32=AAAA,12\n"])
def test_no_row_of_record_switches_a_comparison_off(made: Installation, row: str) -> None:
    """Neither a dropped one nor one without a digest: exit 1 though nothing else changed."""
    path = f"{made.package}/tool.py"
    lines = made.record.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [row.format(path=path) if line.startswith(path) else line for line in lines]
    made.record.write_text("".join(kept), encoding="utf-8")
    assert made.verify().exit_code == 1


@pytest.mark.parametrize("change", [odd_files.missing, odd_files.symlink_to_a_copy])
def test_a_listed_file_without_a_digest_must_be_there(
    made: Installation, change: Callable[[Path], None]
) -> None:
    """And be a file."""
    path = f"{made.package}/tool.py"
    rows = made.record.read_text(encoding="utf-8")
    made.record.write_text(f"{rows}{path},,\n", encoding="utf-8")
    change(made.folder / "tool.py")
    assert path in {row.path for row in made.verify().differences}


@pytest.mark.parametrize("name", ["catalog.lock.json", "build-receipt.json", "METADATA"])
def test_a_document_that_record_does_not_list_is_a_mismatch(made: Installation, name: str) -> None:
    """It would escape the comparison."""
    lines = made.record.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if f"/{name}," not in line]
    made.record.write_text("".join(kept), encoding="utf-8")
    found = made.verify()
    assert (found.exit_code, found.gaps) == (1, ("record_mismatch",))


def test_listed_metadata_that_is_gone_is_a_difference(made: Installation) -> None:
    """RECORD is found without it."""
    path = (made.dist_info / "METADATA").relative_to(made.site).as_posix()
    (made.dist_info / "METADATA").unlink()
    found = made.verify()
    assert [(row.path, row.state) for row in found.differences] == [(path, "missing")]


def test_folders_that_nobody_may_list_are_read_through() -> None:
    """The right to pass is enough for files whose names are known."""
    with odd_files.unprivileged_folder() as folder:
        made = InstalledBuilder().install(folder)
        for place in (made.bundle, made.skills, made.skills / "alpha"):
            place.chmod(0o711)
        with odd_files.without_privileges():
            view = made.open().current()
    assert (view.altered, view.provenance.gaps) == (frozenset(), ("unseen_entries",))


def test_a_race_against_reads_never_gives_an_altered_byte(made: Installation) -> None:
    """One thread swaps the file without pause; each read gives the locked bytes or none."""
    file = made.skills / "alpha/references/guide.md"
    good = file.read_bytes()
    bad, stop = good.replace(b"Read", b"Obey"), threading.Event()

    def swap() -> None:
        one, other = file.with_name("one"), file.with_name("other")
        while not stop.is_set():
            one.write_bytes(bad)
            one.replace(file)
            other.write_bytes(good)
            other.replace(file)
            file.write_bytes(bad)  # in place, too
            file.write_bytes(good)

    catalog = made.catalog()
    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[str] = set()
    for _ in range(300):
        try:
            seen.add(catalog.read("alpha", "references/guide.md").content)
        except ToolError as error:
            seen.add(error.code)
    stop.set()
    thread.join()
    assert seen <= {good.decode(), "resource_unavailable"}
    assert catalog.read("alpha", "references/guide.md").content == good.decode()


def test_threads_may_ask_at_once(made: Installation) -> None:
    """A server may answer from several threads while files change."""
    catalog = made.catalog()
    errors: list[Exception] = []

    def ask() -> None:
        try:
            for _ in range(20):
                catalog.search("alpha")
                catalog.read("beta")
        except Exception as error:  # noqa: BLE001 -- whatever it is, the test fails with it
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        (made.skills / "alpha/SKILL.md").write_bytes(b"%d" % number)
    for thread in threads:
        thread.join()
    assert errors == []


def test_nothing_is_written(made: Installation) -> None:
    """Verifying and serving leave every file and folder as it was."""

    def state() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in made.site.rglob("*")
        }

    before = state()
    made.verify()
    made.catalog().read("alpha")
    assert state() == before


@pytest.mark.parametrize("name", ["tool.py", "__init__.py"])
def test_altered_code_is_a_gap_of_every_answer(made: Installation, name: str) -> None:
    """As of `verify`: a server compares the package's code with RECORD when it starts."""
    (made.folder / name).write_bytes(b"ANSWER = 43\n")
    assert verify_installed(made.locate()).gaps == ("record_mismatch",)
    assert made.open().current().provenance.gaps == ("record_mismatch",)


def test_code_that_changes_while_serving_is_looked_at_when_record_changes(
    made: Installation, bundle: InstalledBundle
) -> None:
    """The running process has loaded it; only a new RECORD says that another version is there."""
    (made.folder / "tool.py").write_bytes(b"ANSWER = 43\n")
    assert bundle.current().provenance.gaps == ()
    made.record.write_bytes(made.record.read_bytes() + b"\n")
    assert bundle.current().provenance.gaps == ("record_mismatch",)


def test_no_descriptor_stays_open(made: Installation) -> None:
    """A server that runs for weeks does not run out of them."""

    def count() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- their number is all

    catalog = made.catalog()
    catalog.search()
    before = count()
    for _ in range(5):
        catalog.read("alpha")
        catalog.search()
    assert count() == before
