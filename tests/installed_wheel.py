"""A real wheel of the sample project, built in this process and laid out as an installer does."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from tests.hatch_plugin.sample import SampleProject, git
from tests.installed_builder import Installation

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ssh_keys import SshKey


def signed_project(folder: Path, key: SshKey) -> SampleProject:
    """Make the sample project with one commit, signed by this key."""
    sample = SampleProject.create(folder)
    amend = ("commit", "--quiet", "--amend", "--no-edit", "--gpg-sign")
    git(folder, *key.git_options, *amend)
    return sample


def install_wheel(wheel: Path, site: Path) -> Installation:
    """Unpack a wheel of the sample project below `site`."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return Installation(site=site, name="acme-skills", version="1.0")
