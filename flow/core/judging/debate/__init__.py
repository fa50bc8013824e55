"""A debate of judges: rounds, points, analysis, report, result."""
