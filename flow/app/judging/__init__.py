"""Asking judges: goals, rubrics, scorecards, debates, each as one list of steps."""
