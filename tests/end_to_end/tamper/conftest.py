"""One environment a module, made by the installer that it names, and one server all through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from tests.end_to_end.conftest import once
from tests.end_to_end.tamper import tampered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from tests.end_to_end.tamper.tampered import Installed, Server
    from tests.tamper.matrix import Row


@pytest.fixture(scope="session")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel that is installed and altered."""

    def make(folder: Path) -> None:
        folder.mkdir()
        tampered.build(clone, folder)

    (built,) = once(tmp_path_factory, "tampered", make).glob("dist/*.whl")
    return built


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, wheel: Path) -> Iterator[Installed]:
    """Install it as the module's `INSTALLER` does, and keep a copy of what that wrote."""
    # pytest leaves the type of a module open.
    module = cast("ModuleType", request.module)  # pyright: ignore[reportUnknownMemberType]
    installer = str(vars(module)["INSTALLER"])
    with tampered.room() as folder:
        made = tampered.install(wheel, folder / "environment", installer)
        assert made.verify_as_a_command()["exit_code"] == 0
        made.keep()
        yield made


@pytest.fixture(scope="module")
def server(made: Installed) -> Iterator[Server]:
    """Start the one server of an installation."""
    with tampered.serving(made) as server:
        yield server


@pytest.fixture
def altered(made: Installed, server: Server, request: pytest.FixtureRequest) -> Iterator[Installed]:
    """Return the installation, whole; afterwards it is put back, and the server has to see that."""
    yield made
    row: Row | None = request.node.funcargs.get("row")
    made.restore(code=row is None or row.area == "code")
    tampered.demand_whole(made, server)
