"""Rubrics and scorecards on disk. Their meaning is defined in ``core/judging``."""
