"""Git, read-only: repositories and their objects, status, and the proof from a commit to bytes.

May import `files`, `formats` and `errors`; the only importer of pygit2.
"""
