"""A process swaps a file of a real installation while a real server is asked for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.end_to_end.tamper import tampered
from tests.tamper.installation import OTHER, TARGET
from tests.tamper.test_race import by_a_process

if TYPE_CHECKING:
    from pathlib import Path

READS = 1_000


def test_a_server_serves_no_altered_byte_while_files_are_swapped(wheel: Path) -> None:
    """Every answer holds the locked bytes or none; afterwards all is well again."""
    with tampered.room() as folder:
        made = tampered.install(wheel, folder / "environment", "pip")
        kept = (made.skills / TARGET).read_text(encoding="utf-8")
        aside: Path = folder / "aside"
        aside.mkdir()
        with tampered.serving(made) as server:
            with by_a_process(made.skills / TARGET, aside):
                answers = [server.read(TARGET) for _ in range(READS)]
                other = server.read(OTHER)
            assert {answer.get("content") for answer in answers} <= {kept, None}
            refused = [answer["error"]["code"] for answer in answers if "error" in answer]
            assert set(refused) <= {"resource_unavailable"}
            assert "content" in other
            assert server.read(TARGET)["content"] == kept
            assert server.search()["provenance"]["gaps"] == []
        assert made.verify_as_a_command()["exit_code"] == 0
