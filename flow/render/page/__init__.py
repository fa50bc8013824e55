"""The report pages: a goal's, the overview's, and those of opinions."""
