"""The skills that this project ships itself."""
