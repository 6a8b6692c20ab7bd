"""Acceptance from outside: clients and suites written by others, tried on the installed wheel.

`nox -s conformance` runs it all and writes `results.json`; see `docs/reference/conformance.md`.
Only the tests of its own parts belong to the fast suite.
"""
