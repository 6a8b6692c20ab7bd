"""Edge: lock, receipt and metadata of an installation, watched for the moment they change.

What is read from them decides how everything else is read, so a change of one means to begin again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills_bundle.bundle import limits as bundle_limits
from skills_bundle.files import reading
from skills_bundle.formats import limits as format_limits
from skills_bundle.formats.metadata_files import RECORD_FILE_NAME
from skills_bundle.installed import distribution, limits
from skills_bundle.installed.distribution import METADATA_FILE_NAME
from skills_bundle.installed.inventory import Inventory

if TYPE_CHECKING:
    from collections.abc import Callable

    from skills_bundle.files.reading import Fingerprint
    from skills_bundle.installed.location import Installed

_METADATA = {
    METADATA_FILE_NAME: format_limits.METADATA_MAX_BYTES,
    RECORD_FILE_NAME: format_limits.RECORD_MAX_BYTES,
}


class Control:
    """Watches an installation for another lock, receipt, metadata folder, METADATA or RECORD.

    Every metadata folder of the name is watched, and that there is none: one may appear, come back,
    or begin to be the one that is meant.

    Args:
        place: Where the installation is.
        clock: Nanoseconds since the epoch.
    """

    def __init__(self, place: Installed, clock: Callable[[], int]) -> None:
        """Look once; what is there now is what a change is told against."""
        self._place = place
        self._clock = clock
        self._listed: Fingerprint | None = None
        self._folders: tuple[str, ...] | None = ()
        self._have_folders_changed()
        documents = {
            place.lock_path: bundle_limits.LOCK_MAX_BYTES,
            place.receipt_path: bundle_limits.RECEIPT_MAX_BYTES,
        }
        metadata = {
            f"{folder}/{name}": most
            for folder in self._folders or ()
            for name, most in _METADATA.items()
        }
        self._inventories = (
            Inventory(place.site, documents, follow_last=place.linked, clock=clock),
            Inventory(place.site, metadata, follow_last=True, clock=clock),
        )
        self.has_changed()

    def has_changed(self) -> bool:
        """Look again; tell whether anything is another than at the last look.

        Raises:
            OSError: If the system has no descriptors or memory left.
        """
        changed = [inventory.refresh() for inventory in self._inventories]  # all, not to the first
        return self._have_folders_changed() or any(changed)

    def _have_folders_changed(self) -> bool:
        """List the folder that holds the package again, if its times say that it may be another."""
        facts = reading.lstat(self._place.site, ".")
        if facts is not None and facts == self._listed:
            return False
        now = self._clock()
        before, self._folders = (
            self._folders,
            distribution.folders(self._place.site, self._place.sought),
        )
        young = facts is None or now - facts.mtime_ns <= limits.RACY_NANOSECONDS
        self._listed = None if young else facts
        return self._folders != before
