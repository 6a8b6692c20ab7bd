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
toolsets      [decision] which tools a group holds
tools/        [decision] what can be called
run           [edge]     `mcp serve`
check         [edge]     `mcp check`, which is a client
```
"""
