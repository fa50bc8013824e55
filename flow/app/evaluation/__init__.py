"""Evaluating a goal, as one list of steps, and the steps."""
