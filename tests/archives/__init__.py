"""Tests of `skills_bundle.archives`."""
