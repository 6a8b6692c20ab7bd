"""Tests of `skills_bundle.project`."""
