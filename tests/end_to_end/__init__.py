"""Tests that build, install and start real processes."""
