"""Whether the output of a command shows that it tested something.

:mod:`flow.core.masked_exit` follows the exit statuses.
"""
