"""MCP resources and the MCP skills extension."""
