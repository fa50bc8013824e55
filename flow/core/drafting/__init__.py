"""Making new goals: criteria from words, what a file may lack, proposals, defaults, the questions.

Everything here works on texts and documents; nothing is run, read or written.
"""
