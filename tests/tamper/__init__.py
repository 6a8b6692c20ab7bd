"""An installed bundle altered in every way we could think of, each with its expected state."""
