"""Byte shapes we promise: strict JSON in, one rendering out, digests. Knows no skill, no disk."""
