"""Laws, found out by hypothesis."""
