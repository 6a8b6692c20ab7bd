"""Tests of `skills_bundle.installed`."""
