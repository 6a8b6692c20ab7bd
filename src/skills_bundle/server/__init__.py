"""The MCP server: strict stdio and HTTP, the SDK's session, tools and resources.

Knows the catalog and the protocol; may import `catalog` and what lies below it, and the MCP SDK;
never the build, the command line or a repository. Importing this package costs nothing: every
module is imported only where it is needed.

```text
run        [edge]     `mcp serve` over stdio
session    [decision] the SDK's low-level server with our tools, and how a connection opens
resources  [decision] MCP resources and the MCP skills extension
tools/     [decision] the tools by group, and what a tool is
stdio/     [edge]     standard input and output as a transport
http/      [edge]     `mcp serve --http`
trace/     [edge]     `mcp serve --trace`
check/     [edge]     `mcp check`, which is a client
```
"""
