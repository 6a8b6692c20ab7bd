"""`verify-wheel` and `verify-sdist`."""
