"""Rubrics and scorecards on disk.

What they mean is in ``core/judging``.
"""
