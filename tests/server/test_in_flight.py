"""Requests in flight are counted exactly."""

from __future__ import annotations

import anyio

from skills_bundle.server.stdio.transport import InFlight


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
        return requests.is_taken("1")

    assert not anyio.run(scenario)


def test_settling_twice_is_settling_once() -> None:
    """An answer that is written after its request was taken back changes nothing."""

    async def scenario() -> int:
        requests = InFlight()
        await requests.admit(1, "m")
        requests.settle(1)
        requests.settle(1)
        await requests.admit(2, "m")
        return len(requests)

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


def test_an_id_is_taken_by_bytes_that_were_read_before_its_answer_began() -> None:
    """Nobody can have read the answer by then, even if it is written when the bytes are parsed."""

    async def scenario() -> bool:
        requests = InFlight()
        requests.begin_chunk(read_at=1)
        await requests.admit("a", "m")
        requests.begin_answer("a", at=2)
        requests.settle("a")
        return requests.is_taken("a")

    assert anyio.run(scenario)


def test_an_id_is_free_for_bytes_that_were_read_after_its_answer_began() -> None:
    """Even if our own writer does not know yet that its write is over."""

    async def scenario() -> bool:
        requests = InFlight()
        requests.begin_chunk(read_at=1)
        await requests.admit("a", "m")
        requests.begin_answer("a", at=2)
        requests.begin_chunk(read_at=3)
        return requests.is_taken("a")

    assert not anyio.run(scenario)


def test_an_id_that_is_used_again_waits_until_its_first_answer_is_written() -> None:
    """One request an id at a time."""

    async def scenario() -> list[str]:
        seen: list[str] = []
        requests = InFlight()
        await requests.admit("a", "m")
        requests.begin_answer("a", at=2)

        async def again() -> None:
            await requests.admit("a", "m")
            seen.append("admitted")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(again)
            await anyio.wait_all_tasks_blocked()
            seen.append("written")
            requests.settle("a")
        return seen

    assert anyio.run(scenario) == ["written", "admitted"]
