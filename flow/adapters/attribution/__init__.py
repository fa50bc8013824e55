"""What shows that a command tested something: its syntax, programs, reports and files.

The rules are in ``core/attribution``.
"""
