"""A goal's report as values: one finding for every form in which it is written."""
