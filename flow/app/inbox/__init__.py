"""The inbox: every goal of every checkout that a user works in, and whose turn it is."""
