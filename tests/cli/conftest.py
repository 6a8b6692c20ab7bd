"""Fixtures: this package installed with a small bundle, whole or to be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.installed import WarmProcess, install
from tests.installed_wheel import install_wheel, signed_project
from tests.ssh_keys import SshKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.installed import OwnInstallation
    from tests.cli.runner import Ran


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> OwnInstallation:
    """Return an installation that no test may change."""
    return install(tmp_path_factory.mktemp("whole") / "environment")


@pytest.fixture(scope="session")
def ask_whole(whole: OwnInstallation) -> Iterator[Callable[..., Ran]]:
    """Return what runs a command of that installation."""
    process = WarmProcess(whole)
    yield process.ask
    process.close()


@pytest.fixture(scope="session")
def with_proof(whole: OwnInstallation, tmp_path_factory: pytest.TempPathFactory) -> OwnInstallation:
    """Return an installation with a second, really built wheel whose commit is signed."""
    folder = tmp_path_factory.mktemp("with-proof")
    key = SshKey.create(folder / "id")
    made = whole.copied(folder / "environment")
    install_wheel(signed_project(folder / "acme", key).wheel(), made.site)
    return made


@pytest.fixture(scope="session")
def signers(with_proof: OwnInstallation) -> Path:
    """Return a file that allows whoever signed the commit of that wheel."""
    folder = with_proof.environment.parent
    file = folder / "allowed_signers"
    file.write_text(f"ada@example.org {SshKey(folder / 'id').public}\n", encoding="utf-8")
    return file


@pytest.fixture
def place(whole: OwnInstallation, tmp_path: Path) -> OwnInstallation:
    """Return a copy of it, to be broken."""
    return whole.copied(tmp_path / "environment")
