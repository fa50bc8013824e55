"""Values and decisions only: no files, no clock, no processes, no randomness."""
