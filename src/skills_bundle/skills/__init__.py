"""What a skill is: frontmatter, rules, portable paths, the scan that finds it. Knows no bundle.

May import `formats` and `errors`; only `scan` and `disk` touch the disk.
"""
