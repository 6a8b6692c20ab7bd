"""What we ship, and whether this is it: lock, build receipt, verification, provenance.

Records and decisions; nothing here touches the disk. May import `archives`, `git`, `skills`,
`files` and what lies below; knows no tool and no build backend.
"""
