"""Debates on disk: the log, the judges' reports, the files of a solution.

Their meaning is defined in ``core/judging/debate``.
"""
