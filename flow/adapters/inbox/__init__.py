"""The checkouts of a user as the inbox finds and remembers them.

Nothing here runs anything of a checkout, or writes to one.
"""
