"""Tests of `skills_bundle.git`."""
