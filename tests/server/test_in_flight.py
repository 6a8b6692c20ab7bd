"""Requests in flight are counted exactly."""

from __future__ import annotations

import anyio

from skills_bundle.server.in_flight import InFlight


def test_a_request_beyond_the_limit_waits_until_one_is_over() -> None:
    """The limit holds, and waiting ends."""

    async def scenario() -> list[str]:
        seen: list[str] = []
        requests = InFlight(limit=1)
        await requests.admit("a", "m")

        async def second() -> None:
            await requests.admit("b", "m")
            seen.append("b admitted")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(second)
            await anyio.wait_all_tasks_blocked()
            seen.append("a settled")
            requests.settle("a")
        return seen

    assert anyio.run(scenario) == ["a settled", "b admitted"]


def test_a_number_and_its_text_are_two_ids() -> None:
    """JSON-RPC compares ids as JSON values."""

    async def scenario() -> bool:
        requests = InFlight()
        await requests.admit(1, "m")
        return "1" in requests

    assert not anyio.run(scenario)


def test_settling_twice_counts_once() -> None:
    """An answer that is written after its request was taken back changes nothing."""

    async def scenario() -> int:
        requests = InFlight()
        await requests.admit(1, "m")
        requests.settle(1)
        requests.settle(1)
        return requests.settled

    assert anyio.run(scenario) == 1


def test_waiting_for_none_ends_when_the_last_is_over() -> None:
    """Not when the first is."""

    async def scenario() -> int:
        requests = InFlight()
        await requests.admit(1, "m")
        await requests.admit(2, "m")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(requests.empty)
            for request_id in (1, 2):
                await anyio.wait_all_tasks_blocked()
                requests.settle(request_id)
        return len(requests)

    assert anyio.run(scenario) == 0
