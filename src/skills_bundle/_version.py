"""The version of this distribution, in the one place that hatchling and the run time both read."""

__version__ = "0.1.0"
