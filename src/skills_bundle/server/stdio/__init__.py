"""The strict stdio transport."""
