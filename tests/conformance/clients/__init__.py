"""Programs that use a client library of others; each runs in that library's environment.

A program is given one argument, JSON: `{era, transport, command, url, lock}`. It prints one JSON
line a scenario: `{scenario}`, with `error` if it did not work.
"""
