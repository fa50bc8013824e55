"""A goal as a value: its contract, its lifecycle, and how it may be amended.

No decision about a goal is made here.
"""
