"""Fuzz targets: each a law about any bytes (`check`) and bytes to start from (`seeds`)."""
