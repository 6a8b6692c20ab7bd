"""The repository itself: its layout, and documentation that matches the code."""
