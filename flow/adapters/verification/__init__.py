"""Running verification commands under a supervisor, with no process left behind.

The meaning of their outcome is decided in ``core``.
"""
