"""Tests of `skills_bundle.catalog`."""
