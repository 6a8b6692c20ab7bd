"""Edge: verified copies of installed skills, for a place that no installer looks after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle import limits
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import BundleUnavailableError, Problem, UnsafeFileError
from skills_bundle.files import reading, writing
from skills_bundle.files.writing import Written
from skills_bundle.formats.digest import sha256_hex
from skills_bundle.installed.opened import InstalledBundle
from skills_bundle.supply_chain.export import plan as export_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from skills_bundle.bundle.lock import LockedFile
    from skills_bundle.bundle.view import View
    from skills_bundle.installed.location import Installed
    from skills_bundle.supply_chain.export.plan import Export


def export(find: Callable[[], Installed], target: Path, skills: Sequence[str] = ()) -> Export:
    """Copy skills of an installation with their lock; each byte is hashed before it is written.

    Args:
        find: Says where the installation is.
        target: The folder to make; nothing, or an empty folder.
        skills: Names or paths; by default all, and then the build receipt goes along.

    Raises:
        ExportTargetError: If something is in the way; nothing was looked at then.
        BundleUnavailableError: If there is no lock that can be believed, or the package runs from
            its source, of which there is nothing to verify.
        UnknownSkillError: If a skill is not there.
        AlteredSkillsError: If a file of them is not what was locked; nothing is exported then.
        OSError: If the copies cannot be written; nothing is left behind.
    """
    writing.demand_free(target)
    place = find()
    if place.project is not None:
        raise _not_locked()
    writing.demand_outside(target, place.site / place.package)
    bundle = InstalledBundle(find)
    view = bundle.current()
    wanted = export_plan.chosen(view.lock, skills)
    export_plan.demand_room(wanted)
    export_plan.demand_unaltered(view, wanted)
    contents = _contents(bundle, export_plan.files_of(wanted))
    lock, kind = export_plan.lock_for(view, wanted, contents)
    receipt = _receipt(place, view) if kind == "installed" else None

    def fill(write: Callable[[Written], None]) -> None:
        for path, file in export_plan.files_of(wanted).items():
            write(Written(path, contents[path], file.executable))
        write(Written(LOCK_FILE_NAME, lock.to_bytes()))
        if receipt is not None:
            write(Written(RECEIPT_FILE_NAME, receipt))

    writing.make(target, fill)
    return export_plan.account(view, wanted, lock, folder=str(target), receipt=receipt is not None)


def _not_locked() -> BundleUnavailableError:
    message = (
        "The package runs from its source: the files there are what they are now, and there is "
        "nothing to verify copies of them against. Install a wheel, or copy the skills folder."
    )
    problem = Problem(code="editable_install", message=message)
    return BundleUnavailableError("Nothing can be exported.", (problem,))


def _contents(bundle: InstalledBundle, files: dict[str, LockedFile]) -> dict[str, bytes]:
    """Read every file once, each hashed as it is read; all that are wrong are told together."""
    contents: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in files:
        try:
            contents[path] = bundle.read(path)
        except UnsafeFileError:
            problems.append(export_plan.altered_file(path))
    if problems:
        raise export_plan.altered(problems)
    return contents


def _receipt(place: Installed, view: View) -> bytes | None:
    """Give the build receipt if it is believed, and still the one that was compared."""
    wanted = view.provenance.source_provenance.receipt_sha256
    if wanted is None:
        return None
    with reading.Reader(place.site, follow_last=place.linked) as reader:
        try:
            data = reader.read_up_to(place.receipt_path, limits.RECEIPT_MAX_BYTES).data
        except UnsafeFileError:
            return None
    return data if sha256_hex(data) == wanted else None
