"""Evidence as a value: what was measured, how fresh it is, what it rests on.

Knows no judge.
"""
