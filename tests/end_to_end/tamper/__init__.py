"""The tamper matrix on wheels that were really built and installed."""
