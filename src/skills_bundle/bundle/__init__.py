"""What we ship, and whether this is it: lock, build receipt, verification, provenance.

Records and decisions, and three edges: `checkout` (git), `installed` and `safe_read` (disk).
May import `skills`, `formats` and `errors`; knows no tool and no build backend.
"""
