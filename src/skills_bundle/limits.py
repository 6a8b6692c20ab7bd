"""Record: every bound this package keeps, named, with its unit and the reason for its size."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- JSON -------------------------------------------------------------------------------------
JSON_MAX_DEPTH: Final = 64
"""Nested containers; the outermost value has depth 0. Protects every recursive reader."""
JSON_MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Integers beyond this are not the same number in every JSON reader (RFC 8259, section 6)."""
JSON_MAX_NUMBER_CHARACTERS: Final = 64
"""Characters of one number. Longer ones cost quadratic time and mean nothing."""

# --- skills -----------------------------------------------------------------------------------
SKILL_MAX_FILES: Final = 512
"""Files in one skill: the limit of the MCP skills extension."""
SKILL_MAX_BYTES: Final = 16 * MIB
"""Bytes of all files of one skill together: the limit of the MCP skills extension."""
SKILL_MD_MAX_LINES: Final = 500
"""Lines of SKILL.md before a warning: the Agent Skills specification's advice."""
SKILL_NAME_MAX_CHARACTERS: Final = 64
"""Code points of a skill's name: the Agent Skills specification."""
SKILL_DESCRIPTION_MAX_CHARACTERS: Final = 1024
"""Code points of a description before a warning: the Agent Skills specification."""
SKILL_COMPATIBILITY_MAX_CHARACTERS: Final = 500
"""Code points of `compatibility` before a warning: the Agent Skills specification."""
FRONTMATTER_MAX_BYTES: Final = 256 * KIB
"""Bytes of the YAML head of a SKILL.md."""
FRONTMATTER_MAX_DEPTH: Final = 32
"""Nested collections in frontmatter; well inside `JSON_MAX_DEPTH` once wrapped in the lock."""
FRONTMATTER_MAX_NODES: Final = 50_000
"""Keys, scalars and collections in one frontmatter; about a second of work at most."""
FRONTMATTER_MAX_PROBLEMS: Final = 100
"""Problems told of one frontmatter; beyond, only the first of each further code."""
MESSAGE_QUOTE_MAX_CHARACTERS: Final = 80
"""Code points of somebody else's text that a message quotes."""
SCAN_MAX_ENTRIES: Final = 200_000
"""Directory entries looked at in one scan, so that pointing it at `/` ends."""
SCAN_MAX_DEPTH: Final = 64
"""Folders below the skills folder."""
IGNORE_FILE_MAX_BYTES: Final = MIB
"""Bytes of a `.gitignore` or another file of git's ignore rules."""
PATH_MAX_CHARACTERS: Final = 1024
"""UTF-16 units of a locked path, relative to its skills folder."""
PATH_MAX_COMPONENTS: Final = 24
"""Components of a locked path."""
PATH_COMPONENT_MAX_BYTES: Final = 255
"""UTF-8 bytes of one component of a path: what common file systems hold."""

# --- lock and receipt -------------------------------------------------------------------------
LOCK_MAX_BYTES: Final = 64 * MIB
"""Bytes of `catalog.lock.json`."""
RECEIPT_MAX_BYTES: Final = 1 * MIB
"""Bytes of `build-receipt.json`."""
RECEIPT_MAX_INPUTS: Final = 20_000
"""Files that a receipt lists as what the build was made of."""
PROOF_MAX_BYTES: Final = 64 * KIB
"""Bytes of raw git objects in a receipt; a longer proof is left out, and refused when read."""
PROOF_MAX_OBJECTS: Final = 65
"""Raw git objects in a receipt: a commit and a folder for each level that a scan goes down."""
SBOM_MAX_BYTES: Final = 64 * MIB
"""Bytes of a bill of materials that is compared with lock and receipt: as for the lock it is of."""

# --- settings and build -----------------------------------------------------------------------
PYPROJECT_MAX_BYTES: Final = 4 * MIB
"""Bytes of `pyproject.toml` or `hatch.toml`."""
SETTING_MAX_CHARACTERS: Final = 1024
"""Code points of one text in the hook's settings: they ship in the receipt."""
TOML_MAX_DEPTH: Final = 100
"""Tables and arrays of a pyproject.toml within each other."""
COLLECTION_MAX_CHARACTERS: Final = 64
"""Characters of a collection's name."""
BUILD_PROBLEMS_SHOWN: Final = 20
"""Problems a failing build prints before it names the command that lists them all."""
LINKS_MAX_FOLLOWED: Final = 40
"""Symbolic links followed on the way to one build input: what Linux allows."""

# --- installation -----------------------------------------------------------------------------
METADATA_MAX_BYTES: Final = 4 * MIB
"""Bytes of a distribution's `METADATA`; it holds a whole README."""
RECORD_MAX_BYTES: Final = 64 * MIB
"""Bytes of a distribution's `RECORD`: one row a file, so the same as for a lock."""
RECORD_MAX_ROWS: Final = 200_000
"""Rows of a RECORD; more than any distribution has files."""
RECORD_MAX_PROBLEMS: Final = 100
"""Problems told of one RECORD; the rest are counted."""
RECORDED_FILE_MAX_BYTES: Final = 256 * MIB
"""Bytes of a file that only RECORD lists; larger ones are told by their size, not read."""
RACY_NANOSECONDS: Final = 2_000_000_000
"""A file written less than this before it was read may change again without its times changing;
it is read again next time. Two seconds is FAT's clock, the coarsest in use."""

# --- archives ---------------------------------------------------------------------------------
ARCHIVE_MAX_BYTES: Final = 256 * MIB
"""Bytes of a wheel or sdist that a command opens: it is held in memory."""
ARCHIVE_MAX_UNPACKED_BYTES: Final = 512 * MIB
"""Bytes of all members together, unpacked: likewise."""
ARCHIVE_MAX_MEMBERS: Final = 50_000
"""Files and folders in an archive."""
ARCHIVE_MAX_RATIO: Final = 200
"""Unpacked bytes for one packed byte of the whole archive; text of people is near 4. Deflate can
give a thousand, so more than this is a bomb."""
ARCHIVE_RATIO_FREE_BYTES: Final = 16 * MIB
"""Unpacked bytes that are no bomb, whatever their ratio."""
ARCHIVE_NAME_MAX_BYTES: Final = KIB
"""UTF-8 bytes of a member's path."""
ARCHIVE_NAME_MAX_COMPONENTS: Final = 64
"""Components of a member's path."""
ARCHIVE_HEADER_MAX_BYTES: Final = MIB
"""Bytes of one extended header of a tar, and of a long name in one."""
DIFF_MAX_LINES: Final = 2000
"""Lines of all unified diffs that one comparison shows."""
DIFF_TEXT_MAX_LINES: Final = 2000
"""Lines of a text whose lines are compared: finding the fewest that differ takes their square."""
DIFF_TEXT_MAX_BYTES: Final = 512 * KIB
"""Bytes of a text whose lines are compared."""
FOLDER_MAX_FILES: Final = 50_000
"""Files of a folder or an installation that a comparison reads."""
FOLDER_MAX_BYTES: Final = 512 * MIB
"""Bytes of all of them together."""
ARCHIVE_MAX_PROBLEMS: Final = 100
"""Problems told of one archive; the rest are counted."""

# --- somebody's repository --------------------------------------------------------------------
COMMIT_MAX_FILES: Final = 500_000
"""Files of one commit that is compared or built again; a few trees that name each other many times
over stand for billions."""
COMMIT_BLOB_MAX_BYTES: Final = 512 * MIB
"""Bytes of one object of a repository that is read: as much as an archive may hold unpacked."""

# --- rebuild ----------------------------------------------------------------------------------
REBUILD_SECONDS: Final = 1800.0
"""Seconds a rebuild's front end may take unless `--timeout` says otherwise."""
REBUILD_STOP_SECONDS: Final = 5.0
"""Seconds that a front end may take to end when it is told to; then it is killed."""
REBUILD_MAX_HISTORY: Final = 10_000
"""Commits that a rebuild's clone has before the one that is built; version tools count them."""
REBUILD_LOG_BYTES: Final = 64 * KIB
"""Bytes at the end of a front end's log that are read to say why it failed."""
REBUILD_LOG_LINES: Final = 20
"""Lines of them that are shown."""

# --- export -----------------------------------------------------------------------------------
EXPORT_ENTRIES_SHOWN: Final = 10
"""Entries that `export` names of a folder that is not empty; the rest are counted."""

# --- signatures and statements ----------------------------------------------------------------
ALLOWED_SIGNERS_MAX_BYTES: Final = MIB
"""Bytes of a file of allowed signers."""
SIGNATURE_MAX_BYTES: Final = 64 * KIB
"""Bytes of a detached SSH signature."""
STATEMENT_MAX_BYTES: Final = 4 * MIB
"""Bytes of a statement, or of an envelope around some."""
STATEMENT_MAX_SUBJECTS: Final = 10_000
"""Files that one statement may speak of."""
SSH_KEYGEN_SECONDS: Final = 10.0
"""Seconds that `ssh-keygen` may take for one question; it needs some milliseconds."""
SSH_KEYGEN_MAX_OUTPUT_BYTES: Final = 64 * KIB
"""Bytes of its answer that are read."""

# --- catalog tools ----------------------------------------------------------------------------
QUERY_MAX_CHARACTERS: Final = 200
"""Code points of a search query."""
SEARCH_DEFAULT_LIMIT: Final = 20
SEARCH_MAX_LIMIT: Final = 50
"""Skills in one page of search results."""
OVERVIEW_MAX_ENTRIES: Final = 24
"""Skills in an overview; also the default."""
OVERVIEW_MAX_CHARACTERS: Final = 4096
"""UTF-16 units of an overview."""
OVERVIEW_DESCRIPTION_MAX_CHARACTERS: Final = 140
"""Code points of one description in an overview."""
OVERVIEW_LABEL_MAX_CHARACTERS: Final = 64
"""Code points of one source label in an overview."""
OVERVIEW_LOCATOR_MAX_CHARACTERS: Final = 512
"""Characters of one quoted locator in an overview."""
READ_DEFAULT_LIMIT: Final = 48 * KIB
"""Bytes of one page of a read, if the caller names none: about 12,000 tokens of English text."""
READ_MIN_LIMIT: Final = 4
"""Least bytes of one page of a read: the longest character in UTF-8, so that paging gets on."""
READ_MAX_LIMIT: Final = 192 * KIB
"""Bytes of one page of a read. A response of at most 1 MiB holds a page twice, as text and
structured; of prose, code and line feeds this many bytes always fit. Quotes, backslashes and
control characters cost up to 13 bytes each: a page that has too many of them ends sooner."""
READ_PAGE_MAX_JSON_BYTES: Final = 976 * KIB
"""Bytes of a page as JSON, both copies together; the rest of a response is for its envelope."""

# --- MCP resources and skills extension -------------------------------------------------------
SKILL_ENTRY_MAX_BYTES: Final = 768 * KIB
"""Bytes of one skill's entry as compact JSON: with its envelope it must fit a response. A skill of
512 files with paths of common length has an entry of about 100 KiB."""
RESOURCE_FILE_MAX_BYTES: Final = 760 * KIB
"""Bytes of a file that a read of a resource surely gives, at worst as base64. A skill that holds a
larger one has no entry in `skills/list`: a host may not get all of it."""
RESOURCE_CONTENTS_MAX_BYTES: Final = 1016 * KIB
"""Bytes of a resource's contents as JSON; the rest of a response is for its envelope."""
LISTING_PAGE_MAX_BYTES: Final = 256 * KIB
"""Bytes of the items in one page of a listing; an item that is larger has a page of its own."""
LISTING_TTL_MILLISECONDS: Final = 5 * 60 * 1000
"""How long a 2026-07-28 client may reuse what it was told of installed skills."""
COLLECTIONS_MAX: Final = 64
"""Collections served together: a search carries the provenance of each, about 700 bytes."""
OVERVIEW_MAX_COLLECTIONS: Final = 8
"""Collections that one line of an overview of several names; the rest are counted."""
OVERVIEW_MAX_UNLISTED: Final = 8
"""Skills an overview names that the skills extension does not list; the rest are counted."""

# --- transport --------------------------------------------------------------------------------
REQUEST_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one request line without its line feed."""
RESPONSE_LINE_MAX_BYTES: Final = 1 * MIB
"""Bytes of one response line with its line feed."""
REQUEST_ID_MAX_BYTES: Final = 1 * KIB
"""Bytes of a string id as JSON, quotes and escapes included."""
MAX_IN_FLIGHT_REQUESTS: Final = 8
"""Requests being answered at once on one connection."""
MAX_PARSE_ERROR_REPLIES: Final = 100
"""Replies to unreadable lines on one connection, after which it is closed."""
READ_CHUNK_BYTES: Final = 32 * KIB
"""Bytes taken from standard input at once; also bounds how many short lines are held at a time."""
STOP_GRACE_SECONDS: Final = 1.0
"""After a signal, seconds for answers that are already being written."""
STOP_FORCED_SECONDS: Final = 2.0
"""After a signal, seconds until the process ends even in the middle of a tool that blocks."""
DRAIN_STALL_SECONDS: Final = 30.0
"""After the end of input, seconds without one finished answer before an unread pipe is given up."""
TOOL_SUMMARY_MAX_CHARACTERS: Final = 120
"""Characters of a tool description's first line; some hosts show no more."""
TOOLS_TTL_MILLISECONDS: Final = 60 * 60 * 1000
"""How long a 2026-07-28 client may reuse the tool list, which never changes while we run."""

# --- HTTP -------------------------------------------------------------------------------------
HTTP_BODY_MAX_BYTES: Final = 1 * MIB
"""Bytes of one request's body, however it is sent: the same as for a line."""
HTTP_HEAD_MAX_BYTES: Final = 16 * KIB
"""Bytes of one request's line and headers together."""
HTTP_HEAD_SECONDS: Final = 10.0
"""Seconds a client may take for one request's line and headers; then it is cut off."""
HTTP_BODY_SECONDS: Final = 10.0
"""Seconds a client may take for one request's body."""
HTTP_ANSWER_SECONDS: Final = 60.0
"""Seconds a client may leave an answer unread; then it is cut off."""
HTTP_IDLE_SECONDS: Final = 75
"""Seconds a connection may stay open between two requests: longer than the 60 that reverse proxies
commonly keep theirs, so that the proxy is the one who closes."""
HTTP_MAX_CONNECTIONS: Final = 256
"""Connections of one worker process; further ones are answered 503."""
HTTP_MAX_REQUESTS: Final = 64
"""Requests whose bodies one worker process holds at once; further ones are answered 503."""
HTTP_STOP_GRACE_SECONDS: Final = 10
"""After a signal, seconds for answers that are being made."""
HTTP_MAX_WORKERS: Final = 64
"""Worker processes."""
HTTP_WORKER_MIN_SECONDS: Final = 1.0
"""A worker process that ends sooner by itself has not served; too many of those end the server."""
HTTP_MAX_SHORT_LIVES: Final = 5
"""Worker processes in a row that may end that soon."""
HTTP_HEALTH_SECONDS: Final = 1.0
"""Seconds that an answer of `/healthz` is kept: anybody may ask, and a look costs time."""
TOKEN_MIN_CHARACTERS: Final = 16
"""Characters of a bearer token; fewer can be guessed."""
TOKEN_MAX_CHARACTERS: Final = 1024
"""Characters of a bearer token; more do not fit well into a request's head."""

# --- traces -----------------------------------------------------------------------------------
TRACED_OBJECT_MAX_BYTES: Final = 64 * KIB
"""Bytes of a message that a trace shows as an object; longer ones are kept as their own text."""
TRACED_SECRET_MIN_CHARACTERS: Final = 8
"""Characters of a secret whose later copies are left out, too; a shorter one is in any text."""
TRACE_MAX_SECRETS: Final = 1000
"""Secrets of one session that a trace can keep out of itself; at more it ends."""

# --- mcp check --------------------------------------------------------------------------------
CHECK_STEP_SECONDS: Final = 30.0
"""Seconds one step of `mcp check` may take; a first start without bytecode takes about two."""
CHECK_MAX_PAGES: Final = 1000
"""Pages of `skills/list` that `mcp check` asks for before it calls the listing endless."""
CHECK_LINE_MAX_BYTES: Final = 16 * MIB
"""Bytes of one line of a server that `mcp check` holds; ours write no more than 1 MiB."""
CHECK_DETAIL_MAX_CHARACTERS: Final = 500
"""Characters that a step of `mcp check` tells: a server's names and messages may be endless."""
CHECK_STDERR_TAIL_BYTES: Final = 2 * KIB
"""Bytes of a failed server's standard error that `mcp check` shows."""
CHECK_STDOUT_LINE_CHARACTERS: Final = 500
"""Characters of a line that is no JSON-RPC that `mcp check` shows."""
