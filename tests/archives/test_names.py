"""Every way in which a wheel could install something else than it shows is reported."""

from __future__ import annotations

import pytest

from skills_bundle.archives.names import install_problems

DIST_INFO = "acme-1.0.dist-info"
DATA = "acme-1.0.data"
PLAIN = ("acme/__init__.py", "acme/a/b.py", f"{DIST_INFO}/METADATA", f"{DIST_INFO}/RECORD")

ADDED = {
    "pure code over code": (f"{DATA}/purelib/acme/__init__.py", "install_place"),
    "platform code over code": (f"{DATA}/platlib/acme/a/b.py", "install_place"),
    "a file over a folder": (f"{DATA}/purelib/acme/a", "install_place"),
    "other case of letters": (f"{DATA}/purelib/Acme/__init__.py", "install_place"),
    "over the metadata": (f"{DATA}/purelib/{DIST_INFO}/METADATA", "install_place"),
    "data over code": (
        f"{DATA}/data/lib/python3.12/site-packages/acme/__init__.py",
        "install_place",
    ),
    "data over code on Windows": (
        f"{DATA}/data/Lib/Site-Packages/acme/__init__.py",
        "install_place",
    ),
    "data over code in one folder": (f"{DATA}/data/acme/__init__.py", "install_place"),
    "a script over a command": (f"{DATA}/scripts/acme", "install_place"),
    "a script over a command on Windows": (f"{DATA}/scripts/acme.exe", "install_place"),
    "data over a command": (f"{DATA}/data/bin/acme", "install_place"),
    "another folder of data": ("other-1.0.data/purelib/other.py", "data_folder"),
    "data in other letters": ("ACME-1.0.Data/purelib/other.py", "data_folder"),
    "an unknown scheme": (f"{DATA}/lib/other.py", "data_folder"),
    "a file for a scheme": (f"{DATA}/purelib", "data_folder"),
    "how it was installed": (f"{DIST_INFO}/direct_url.json", "installers_file"),
    "how it was installed, spread": (
        f"{DATA}/purelib/{DIST_INFO}/direct_url.json",
        "installers_file",
    ),
    "second metadata": ("other-1.DIST-INFO/METADATA", "dist_info"),
    "second metadata, spread": (f"{DATA}/purelib/other-1.dist-info/METADATA", "dist_info"),
    "old metadata": ("acme-2.0.egg-info/PKG-INFO", "dist_info"),
}


def codes(*added: str, commands: tuple[str, ...] = ("acme",)) -> set[str]:
    """Return the codes of the problems of a wheel with more members."""
    return {one.code for one in install_problems([*PLAIN, *added], DIST_INFO, commands)}


@pytest.mark.parametrize("case", ADDED)
def test_a_member_that_is_not_installed_as_shown_is_reported(case: str) -> None:
    """Alone, so that no other check can have found it."""
    added, code = ADDED[case]
    assert codes(added) == {code}


@pytest.mark.parametrize("commands", [("../evil",), ("a\\b",), ("..",), ("C:a",), ("a", "a")])
def test_a_command_outside_the_scripts_folder_is_reported(commands: tuple[str, ...]) -> None:
    """Some installers refuse it; of two with one name, one is overwritten."""
    assert codes(commands=commands) == {"install_place"}


def test_members_of_every_scheme_are_accepted() -> None:
    """Scripts, headers and data have places of their own."""
    added = (
        f"{DATA}/purelib/other.py",
        f"{DATA}/scripts/run",
        f"{DATA}/headers/acme.h",
        f"{DATA}/data/share/acme/a.txt",
        f"{DATA}/data/lib/python3.12/site-packages/other.pth",
    )
    assert codes(*added) == set()
