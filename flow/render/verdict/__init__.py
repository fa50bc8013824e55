"""The screen of a verdict."""
