"""The base commit checked out beside the working tree, and commands run there.

Nothing of the user's checkout is changed.
"""
