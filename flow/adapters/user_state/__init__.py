"""What the user's state folder keeps: trust, settings, notes, labels, what Flow wrote.

The checkout cannot change it.
"""
