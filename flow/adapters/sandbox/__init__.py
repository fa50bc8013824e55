"""Confining a command with bubblewrap: its paths, its home. No goal's command is run here."""
