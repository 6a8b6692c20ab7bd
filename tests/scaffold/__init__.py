"""Tests of making and mending projects."""
