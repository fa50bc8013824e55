"""A goal as a value: its contract, its lifecycle, its ids.

No decision about a goal is made here.
"""
