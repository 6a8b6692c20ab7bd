"""The command line: one module for each command or family of commands.

Knows: how people and programs ask, and how answers are shown. May import everything below it. Must
never decide anything about skills, bundles or catalogs; prints only through `output`. `main`
imports each command on first use, so that `mcp serve`, help and completion start fast.
"""
