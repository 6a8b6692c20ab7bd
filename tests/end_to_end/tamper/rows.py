"""What a row demands: of the command line, and of a server that has been running all the while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.tamper.installation import CHANGES, OTHER, TARGET, WORDS

if TYPE_CHECKING:
    from tests.end_to_end.tamper.tampered import Installed, Server
    from tests.tamper.matrix import Row


def check(altered: Installed, server: Server, row: Row) -> None:
    """Do what a row says, and compare verdict, states, gaps, and what is served.

    Args:
        altered: A whole installation; it is not, afterwards.
        server: A server of it.
        row: The row.
    """
    CHANGES[row.id](altered)
    others = "unavailable" if row.read == "unavailable" else "served"
    assert outcome(server.read(TARGET), kept(altered, TARGET)) == row.read
    assert outcome(server.read(OTHER), kept(altered, OTHER)) == others
    found = server.search()
    if others == "unavailable":
        assert found["error"]["code"] == "catalog_unavailable"
    else:
        assert tuple(found["provenance"]["gaps"]) == row.answered_gaps
        assert WORDS.decode() not in str(found)
    report = altered.verify_as_a_command()
    assert (report["exit_code"], tuple(report["gaps"])) == (row.exit, row.gaps)
    states = tuple(report[name]["state"] for name in ("lock", "receipt", "record"))
    assert (*states, report["sbom"]) == (row.lock, row.receipt, row.record, row.sbom)
    rows = {each["path"]: each["state"] for each in report["files"]}
    assert row.file in {None, rows[f"skills_bundle/.agents/skills/{TARGET}"]}


def outcome(answer: dict[str, Any], kept: bytes) -> str:
    """Return a read's outcome in the words of the matrix."""
    if (error := answer.get("error")) is not None:
        known = {"resource_unavailable": "refused", "catalog_unavailable": "unavailable"}
        return known[error["code"]]
    return "served" if answer["content"].encode() == kept else "rewritten"


def kept(made: Installed, path: str) -> bytes:
    """Return a skill file's bytes as they were installed."""
    return (made.pristine / "skills_bundle/.agents/skills" / path).read_bytes()
