"""The inbox: every goal of every checkout and branch that a user works in, and whose turn it is."""
