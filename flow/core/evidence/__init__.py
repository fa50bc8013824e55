"""Evidence as a value: the measurement, its freshness, and the files that it depends on.

Nothing here knows a judge.
"""
