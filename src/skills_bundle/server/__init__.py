"""How an MCP host talks to us: strict stdio, the SDK's session, the tools.

Knows the catalog and the protocol; may import `catalog` and what lies below it, and the MCP SDK;
never the build, the command line or a repository. Importing this package costs nothing: every
module is imported by whoever needs it.

```text
wire          [edge]     descriptors 0 and 1 made ours; blocking reads and writes in threads
framing       [decision] bytes to messages, messages to bytes
in_flight     [decision] which requests are being answered
strict_stdio  [edge]     the loop that joins wire, framing and a session
session       [decision] the SDK's low-level server with our tools and our safety nets
session_changes   [decision] the extension declared, changed skills told of
resources         [decision] the methods of MCP resources
skills_extension  [decision] the methods of the MCP skills extension
resource_pages    [decision] pages, origin and freshness of their results
resource_errors   [record]   how they refuse
toolsets      [decision] which tools a group holds
tools/        [decision] what can be called
run           [edge]     `mcp serve`
trace_secrets [decision] what of a conversation looks like a secret
trace_steps   [decision] what is written down of a conversation
trace         [edge]     `mcp serve --trace`
http_settings [decision] what serving over HTTP was asked for
http_rules    [decision] what a request's head decides
http_app      [edge]     a request, from its head to its answer
http_health   [edge]     what probes are told
http_protocol [edge]     a connection, with an end to all waiting
http_listen   [edge]     an address, a socket, a token
http_workers  [edge]     several processes on one socket
http_log      [edge]     what the person who runs it is told
http_serve    [edge]     `mcp serve --http`
check         [edge]     `mcp check`, which is a client
check_skills  [edge]     its step that loads a skill as a host does
```
"""
