"""What can be asked of one or several collections: search, read, overview, MCP resources.

Tools and commands get the same answers. Records and decisions only: the disk is behind
`installed.bundle.Bundle`, which is passed in. May import `installed` and what lies below it;
records nothing and knows no transport.

```text
service    the catalog itself: search, read, overview over 1..n sources
sources    a source, its rendered lock, and all sources at one moment
model      arguments, answers and error codes, as they are on the wire
search     which skills match a query
reading    what may be read, media types, pages of a file
overview   the overview text
resources  URIs, MCP resources, folders and skill entries of a lock
```
"""
