"""Wheels and sdists as bytes, read so that no two tools can see two things in one archive.

Knows names, bytes and modes; nothing of lock, receipt or skills. May import `formats`, `errors` and
`limits`; only `opened` touches the disk.
"""
