"""Tests of `skills_bundle.supply_chain`."""
