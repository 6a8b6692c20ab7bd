"""What hatchling wrote, read back."""

from __future__ import annotations

import io
import tarfile

from skills_bundle.archives.model import Member
from skills_bundle.hatch_plugin.archives import read_sdist


def test_a_hard_link_in_an_sdist_is_the_file_it_is() -> None:
    """Hatchling writes the second name of one file as a link; its bytes are there all the same."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        first = tarfile.TarInfo("acme-1.0/a")
        first.size = 1
        archive.addfile(first, io.BytesIO(b"x"))
        second = tarfile.TarInfo("acme-1.0/b")
        second.type, second.linkname = tarfile.LNKTYPE, "acme-1.0/a"
        archive.addfile(second)
    assert read_sdist(buffer.getvalue())[1] == {"a": Member(b"x"), "b": Member(b"x")}
