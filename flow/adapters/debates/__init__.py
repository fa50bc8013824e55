"""Debates on disk: the log, the judges' reports, the files of a solution.

What they mean is in ``core/judging/debate``.
"""
