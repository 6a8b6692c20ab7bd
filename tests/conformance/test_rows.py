"""What was seen is held against what is known, in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.rows import Exemption, Row, Seen, dump, exemptions, judge, load, table

GOOD = Seen(
    client="peer", version="1", era="2025-11-25", transport="http", scenario="list", passed=2
)
BAD = replace(GOOD, failed=("shape",), detail="it is round")
KNOWN = Exemption(
    client="peer",
    era="2025-11-25",
    transport="http",
    scenario="list",
    kind="in_part",
    reason="We have no shape.",
    fails=("shape",),
)
ENTRY = """
[[exemption]]
client = "peer"
transport = "http"
eras = ["2025-11-25", "2026-07-28"]
kind = "in_part"
reason = "We have no shape."

[exemption.fails]
list = ["shape"]
"""


def result(seen: Seen, *known: Exemption) -> str:
    """Return the result of one scenario."""
    rows, _ = judge([seen], known)
    return rows[0].result


def problems(*seen: Seen, known: tuple[Exemption, ...] = ()) -> list[str]:
    """Return what is wrong."""
    return judge(seen, known)[1]


def test_a_scenario_whose_checks_hold_passed() -> None:
    """The ordinary case."""
    assert (result(GOOD), problems(GOOD)) == ("passed", [])


def test_an_unexpected_failure_is_a_problem_in_the_words_of_the_client() -> None:
    """Named by client, way and scenario."""
    assert problems(BAD) == ["peer 1 / 2025-11-25 / http / list: it is round"]


def test_a_scenario_that_checked_nothing_did_not_pass() -> None:
    """No news is not good news."""
    assert result(replace(GOOD, passed=0)) == "failed"


def test_a_known_failure_has_the_kind_of_its_exemption() -> None:
    """And is no problem."""
    assert (result(BAD, KNOWN), problems(BAD, known=(KNOWN,))) == ("in_part", [])


def test_an_exempt_scenario_that_passes_is_a_problem() -> None:
    """An exemption that is used up would hide the next failure."""
    assert "strike its exemption" in problems(GOOD, known=(KNOWN,))[0]


def test_an_exempt_scenario_that_fails_otherwise_is_a_problem() -> None:
    """Exactly the named checks may fail."""
    worse = replace(BAD, failed=("colour", "shape"))
    assert "expected was shape" in problems(worse, known=(KNOWN,))[0]


def test_an_exempt_scenario_that_was_not_run_is_a_problem() -> None:
    """Nothing is left out unseen."""
    assert "was not run" in problems(known=(KNOWN,))[0]


def test_a_scenario_that_shows_nothing_can_be_exempt() -> None:
    """It ends well, and says nothing of us."""
    assert result(GOOD, replace(KNOWN, fails=(), kind="not_applicable")) == "not_applicable"


def test_an_exemption_is_of_one_revision() -> None:
    """What is known of one says nothing of another."""
    assert [each.era for each in exemptions(ENTRY)] == ["2025-11-25", "2026-07-28"]


@pytest.mark.parametrize(
    ("text", "said"),
    [(ENTRY.replace("in_part", "fine"), "unknown kind"), (ENTRY * 2, "exempt 2 times")],
)
def test_a_list_of_exemptions_that_contradicts_itself_is_refused(text: str, said: str) -> None:
    """Before anything is run."""
    with pytest.raises(ValueError, match=said):
        exemptions(text)


def test_results_can_be_read_back() -> None:
    """The documentation is rendered from them."""
    rows, _ = judge([BAD, replace(GOOD, scenario="é")], [KNOWN])
    assert load(dump(rows, server="0")) == ({"server": "0"}, rows)


def test_the_table_ends_with_totals() -> None:
    """The line that people look for."""
    row = Row(client="peer", version="1", era="e", transport="t", scenario="list", result="passed")
    assert table([row, replace(row, result="in_part")]).endswith("\n\n1 passed, 1 in part")
