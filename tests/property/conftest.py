"""How many examples a law is tried with: `--hypothesis-profile=brief` or `thorough`."""

from hypothesis import settings

settings.register_profile("brief", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
