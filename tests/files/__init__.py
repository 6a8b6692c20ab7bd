"""Tests of `skills_bundle.files`."""
