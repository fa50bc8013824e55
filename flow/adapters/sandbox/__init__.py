"""Confining a command with bubblewrap: its paths, its home. No command is run here."""
