"""Laws of a whole session: whatever comes in, everything that is due goes out, in form."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import fuzz_session
from tests.server.peer import ENVELOPE, REVISIONS, initialize, line
from tests.server.vectors import lines

SHORT = [row.data + b"\n" for row in lines() if len(row.data) <= fuzz_session.LIMIT]

METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "skills/list",
        "skills/get",
        "resources/directory/read",
        "prompts/get",
        "no/such/method",
    ]
)

KEYS = st.text("abc/_", max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc/_", max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)

KNOWN_PARAMS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"name": "skill_catalog_search", "arguments": {"query": "a"}},
        {"name": "skill_resource_read", "arguments": {"skill": "alpha"}},
        {"name": "skill_resource_read", "arguments": {"skill": "alpha", "offset": 10**18}},
        {"name": "skill_catalog_overview", "arguments": {}},
        {"uri": "skill://alpha/SKILL.md"},
        {"uri": "skill://alpha"},
        {"uri": "skill://alpha/%2e%2e/beta"},
        {"cursor": "bm9wZQ"},
        {},
    ]
)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Return a request or notification of any revision, with valid or invalid parameters."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": draw(METHODS)}
    if draw(st.booleans()):
        message["id"] = draw(st.integers(-5, 5) | st.text("ab", max_size=2))
    params = draw(KNOWN_PARAMS | st.dictionaries(st.text(max_size=5), JSON, max_size=3))
    if draw(st.booleans()):
        params = {**params, "_meta": draw(st.just(ENVELOPE) | JSON)}
    return line(json.dumps({**message, "params": params}))


OPENINGS = st.sampled_from([line(initialize(revision, "open")) for revision in REVISIONS])
PIECES = requests() | st.sampled_from(SHORT) | st.binary(max_size=30) | st.just(b"\n")


@settings(max_examples=150, deadline=None)
@given(OPENINGS | st.just(b""), st.lists(PIECES, max_size=25))
def test_every_well_formed_request_is_answered_and_nothing_else_is(
    opening: bytes, pieces: list[bytes]
) -> None:
    """One answer each, in form, no fault of ours among them, and a clean end."""
    fuzz_session.check(opening + b"".join(pieces))


@settings(max_examples=30, deadline=None)
@given(st.lists(requests(), min_size=1, max_size=60))
def test_a_burst_of_requests_is_answered_whole(burst: list[bytes]) -> None:
    """More than are handled at once, in one write, then the end of input."""
    fuzz_session.check(line(initialize()) + b"".join(burst))
