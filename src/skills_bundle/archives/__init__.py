"""Wheels and sdists, read so that no two tools can see different contents in one archive.

Knows names, bytes and modes, but not locks, receipts or skills. May import `files`, `formats` and
`errors`; only `reading.open_archive` touches the disk.
"""
