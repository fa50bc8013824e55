"""Calls of git: its command line, GitPython for history, its names, settings and worktrees.

Git's answers are not judged here.
"""
