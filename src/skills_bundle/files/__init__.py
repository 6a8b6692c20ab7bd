"""Files on disk and in memory: safe opening, whole replacement, portable names.

May import `formats`, `errors` and `limits`; knows no skill and no bundle.
"""
