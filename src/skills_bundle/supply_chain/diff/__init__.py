"""`diff`: how two locks, archives, installations or folders differ."""
