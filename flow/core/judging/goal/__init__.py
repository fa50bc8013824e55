"""Judging a goal's fuzzy criteria: the judges' context, their ballots, the combined opinion."""
