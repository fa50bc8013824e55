"""Asking git: its command line, GitPython for history, its names, settings and worktrees.

Nothing here judges what git answers.
"""
