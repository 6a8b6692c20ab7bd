"""Does frontmatter survive a host's own reading? Our entries against YAML readers of others.

`nox -s reparse -- CLONE [CLONE ...]` tries whole collections with every reader, the npm package
`yaml` included. The readers that are written in Python are also tried in the fast suite.
"""
