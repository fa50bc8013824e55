"""The standing of a goal: one table for every screen, and the part that the inbox shows."""
