"""Record: limits of the MCP server, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB, MIB

# --- Resources ------------------------------------------------------------------------------------
RESOURCE_CONTENTS_MAX_BYTES: Final = 1016 * KIB
"""Bytes of a resource's contents as JSON; the rest of a response is for its envelope."""
LISTING_TTL_MILLISECONDS: Final = 5 * 60 * 1000
"""How long a 2026-07-28 client may reuse a listing of installed skills."""

# --- Transport ------------------------------------------------------------------------------------
REQUEST_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one request line without its line feed."""
RESPONSE_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one response line with its line feed."""
REQUEST_ID_MAX_BYTES: Final = 1 * KIB
"""Bytes of a string id as JSON, quotes and escapes included."""
MAX_IN_FLIGHT_REQUESTS: Final = 8
"""Requests answered concurrently on one connection."""
MAX_PARSE_ERROR_REPLIES: Final = 100
"""Replies to unreadable lines on one connection, after which it is closed."""
READ_CHUNK_BYTES: Final = 32 * KIB
"""Bytes read from standard input at once; this also bounds how many short lines are held."""
STOP_GRACE_SECONDS: Final = 1.0
"""Seconds after a signal for answers that are being written."""
STOP_FORCED_SECONDS: Final = 2.0
"""Seconds after a signal until the process exits, even while a tool blocks."""
DRAIN_STALL_SECONDS: Final = 30.0
"""Seconds after the end of input that an answer may stay unread; then the connection ends."""
TOOL_SUMMARY_MAX_CHARACTERS: Final = 120
"""Characters of a tool description's first line; some hosts show no more."""
RESULT_MAX_CHARACTERS: Final = 500_000
"""Characters of an answer that a host need not cut, as `_meta["anthropic/maxResultSizeChars"]`: the
longest page of text as JSON, and the most that hosts accept."""
TOOLS_TTL_MILLISECONDS: Final = 60 * 60 * 1000
"""How long a 2026-07-28 client may reuse the tool list, which is fixed while the server runs."""

# --- HTTP -----------------------------------------------------------------------------------------
HTTP_BODY_MAX_BYTES: Final = 1 * MIB
"""Bytes of one request's body: the same as for a line."""
HTTP_HEAD_MAX_BYTES: Final = 16 * KIB
"""Bytes of one request's line and headers together."""
HTTP_HEAD_SECONDS: Final = 10.0
"""Seconds a client may take to send a request's line and headers; then it is disconnected."""
HTTP_BODY_SECONDS: Final = 10.0
"""Seconds a client may take to send a request's body."""
HTTP_ANSWER_SECONDS: Final = 60.0
"""Seconds a client may leave an answer unread; then it is disconnected."""
HTTP_IDLE_SECONDS: Final = 75
"""Seconds a connection may stay open between two requests: longer than the 60 common in reverse
proxies, so that the proxy closes first."""
HTTP_MAX_CONNECTIONS: Final = 256
"""Connections that one process serves, or fewer if it may open few files; further ones get 503."""
HTTP_MAX_REFUSALS: Final = 64
"""Further connections that may wait for their 503; those beyond are closed at once."""
HTTP_ACCEPT_BATCH: Final = 16
"""Connections accepted before the first of them is counted."""
HTTP_OTHER_DESCRIPTORS: Final = 128
"""File descriptors that are left for refusals, new connections and the files that are served."""
HTTP_REFUSALS_LOG_SECONDS: Final = 60.0
"""Seconds between two lines of the log about refused connections."""
HTTP_MAX_REQUESTS: Final = 64
"""Requests whose bodies one process holds at once; further ones get 503."""
HTTP_STOP_GRACE_SECONDS: Final = 10
"""Seconds after a signal for requests in progress."""
HTTP_HEALTH_SECONDS: Final = 1.0
"""Seconds an answer of `/healthz` is cached: it needs no token, and a check costs time."""
TOKEN_MIN_CHARACTERS: Final = 16
"""Characters of a bearer token; fewer can be guessed."""
TOKEN_MAX_CHARACTERS: Final = 1024
"""Characters of a bearer token; more would not fit into a request's head."""

# --- Traces ---------------------------------------------------------------------------------------
TRACED_OBJECT_MAX_BYTES: Final = 64 * KIB
"""Bytes of a message that a trace writes as an object; longer ones are written as text."""
TRACED_SECRET_MIN_CHARACTERS: Final = 8
"""Characters of a secret whose later copies are redacted as well; shorter ones occur by chance."""
TRACE_MAX_SECRETS: Final = 1000
"""Secrets of one session that a trace can redact; at more it ends."""

# --- `mcp check` ----------------------------------------------------------------------------------
CHECK_STEP_SECONDS: Final = 30.0
"""Seconds one step of `mcp check` may take; a first start, without bytecode, takes about two."""
CHECK_EXIT_SECONDS: Final = 2.0
"""Seconds a checked server may take to exit after the end of its input; then it is killed."""
CHECK_MAX_PAGES: Final = 1000
"""Pages of `skills/list` that `mcp check` requests before it reports an endless listing."""
CHECK_LINE_MAX_BYTES: Final = 16 * MIB
"""Bytes of one line from a server that `mcp check` buffers; our server writes at most 1 MiB."""
CHECK_DETAIL_MAX_CHARACTERS: Final = 500
"""Characters in the detail of one step of `mcp check`."""
CHECK_STDERR_TAIL_BYTES: Final = 2 * KIB
"""Bytes at the end of a failed server's standard error that `mcp check` shows."""
CHECK_STDOUT_LINE_CHARACTERS: Final = 500
"""Characters of a line that is not JSON-RPC that `mcp check` shows."""
