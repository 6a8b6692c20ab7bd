"""Fuzz targets; each runs by itself."""
