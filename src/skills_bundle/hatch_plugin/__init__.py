"""hatch_plugin."""
