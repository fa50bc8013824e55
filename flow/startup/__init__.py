"""Tricks for a quick start of the hooks, the helpers, ``status`` and completion; no other purpose.

Every layer may use them; they import no other part of Flow.
"""
