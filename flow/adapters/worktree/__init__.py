"""Observing the working tree: its files, their contents, and git's ignore rules.

The result is a change set, which ``core/boundary`` judges.
"""
