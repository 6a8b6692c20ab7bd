"""`mcp check`: a client that starts the server and tries it."""
