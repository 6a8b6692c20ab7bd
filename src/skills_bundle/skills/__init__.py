"""What a skill is: frontmatter, rules, portable paths, and the scan that finds them. Knows no bundle.

May import `formats`, `errors`, `limits`; only `scan` touches the disk.
"""
