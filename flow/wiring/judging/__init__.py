"""Asking judges with the real parts: goals, rubrics, scorecards, debates, and auto mode."""
