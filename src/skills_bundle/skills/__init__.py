"""What a skill is: frontmatter, rules, and the scan that finds skills.

May import `files`, `formats` and `errors`; only `scan` reads the disk.
"""
