"""Running verification commands under a supervisor, with nothing left behind.

What their outcome means is decided in ``core``.
"""
