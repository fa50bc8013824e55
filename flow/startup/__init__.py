"""Tricks that exist only so that the hooks, the helpers, ``status`` and completion start quickly.

Every layer may use them; they import nothing of Flow.
"""
