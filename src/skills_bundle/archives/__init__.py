"""Wheels and sdists as bytes, read so that no two tools can see two things in one archive."""
