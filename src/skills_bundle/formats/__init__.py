"""Byte shapes we promise: strict JSON in, one rendering out, digests. Knows no skill, does no I/O."""
