"""Observing the working tree: which files there are, what they hold, what git ignores.

A change set comes out; what it means is judged in ``core/boundary``.
"""
