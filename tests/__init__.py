"""Tests; mirror src/ one to one, plus property, fuzz, end_to_end and repository."""
