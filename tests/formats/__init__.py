"""Tests of skills_bundle.formats."""
