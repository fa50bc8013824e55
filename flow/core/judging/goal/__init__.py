"""Judging a goal's fuzzy criteria: what judges see, their ballots, what these come to."""
