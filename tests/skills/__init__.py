"""Tests of skills_bundle.skills."""
