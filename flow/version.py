"""The version of Flow, in the one place that all others read it from."""

__version__ = "0.1.0"
