"""The checkouts of a user as the inbox finds and remembers them.

No program of a checkout is run here, and no file of one is written.
"""
