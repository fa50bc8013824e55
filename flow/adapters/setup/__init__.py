"""Setting up a repository and a host, and saying what is wrong with a machine.

Nothing but the command line uses it.
"""
