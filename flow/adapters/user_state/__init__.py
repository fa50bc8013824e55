"""The user's state folder: trust, settings, notes, labels, and the record of Flow's own writes.

The checkout cannot change it.
"""
