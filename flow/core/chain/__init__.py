"""The hash chain of a run as values: seals, walks, intervals, how a goal was closed."""
