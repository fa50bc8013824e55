"""The hash chain of a run as values: entries, walks, intervals, records of closed goals."""
