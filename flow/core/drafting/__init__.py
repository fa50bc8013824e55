"""Drafts of new goals: criteria from words, completion, suggestions, defaults, the questions.

Everything here works on texts and documents; nothing is run, read or written.
"""
