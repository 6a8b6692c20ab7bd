"""What probes are told, and how often the catalog is looked at for it."""

from __future__ import annotations

import threading

import anyio

from skills_bundle.server.http.health import Health


def test_many_probes_share_one_look_that_blocks_nobody() -> None:
    """Anybody may ask, and a look takes its time."""
    looks: list[int] = []

    def healthy() -> bool:
        looks.append(threading.get_ident())
        return True

    async def probe() -> None:
        """Ask twenty times at once."""
        health = Health(healthy)
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(health.current)

    anyio.run(probe)
    assert (len(looks), threading.get_ident() in looks) == (1, False)
