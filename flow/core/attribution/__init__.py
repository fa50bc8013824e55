"""Whether what a command printed shows that it tested something.

Exit statuses are followed in ``core/masked_exit``.
"""
