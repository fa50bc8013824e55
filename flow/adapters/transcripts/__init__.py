"""Finding and reading the transcripts of agents.

Their formats are values in ``core/transcript``.
"""
