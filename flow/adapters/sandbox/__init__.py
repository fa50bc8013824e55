"""Confining a command with bubblewrap: its paths, its home.

Nothing here runs one.
"""
