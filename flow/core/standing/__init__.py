"""Where a goal stands: one table for every screen, and what the inbox shows of it."""
