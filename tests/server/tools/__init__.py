"""Tests of the tools, group by group."""
