"""server/tools."""
