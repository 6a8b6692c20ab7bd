"""`mcp serve --trace`: a conversation written to a file."""
