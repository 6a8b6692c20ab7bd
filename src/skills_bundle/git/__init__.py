"""Git, read-only: repositories, objects, status, ignore rules, and the proof from commit to bytes.

May import `files`, `formats` and `errors`; the only importer of pygit2.
"""
