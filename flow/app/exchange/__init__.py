"""Exporting a run, and checking an exported bundle away from its repository."""
