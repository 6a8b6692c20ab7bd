"""Commit signatures, checked with `ssh-keygen`."""
