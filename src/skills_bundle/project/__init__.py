"""A project that ships skills: its settings, its lock, and `init`, which creates or extends one.

May import `bundle` and what lies below; needs neither hatchling nor the server.
"""
