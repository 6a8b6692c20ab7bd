"""Files on disk and in memory: safe opening, whole replacement, portable names.

May import `formats` and `errors`; knows no skill and no bundle.
"""
