"""The command line: one module a command group.

Knows: how people and programs ask, and how answers are shown. May import everything below it. Must
never decide anything about skills, bundles or catalogs, and prints through `output` alone. `main`
imports no command until one is asked for, so that `mcp serve`, help and completion start at once.
"""
