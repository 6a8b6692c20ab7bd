"""Tests of `skills_bundle.bundle`."""
