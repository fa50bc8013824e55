"""A search for an undeserved "achieved": acts of an agent at random, and an oracle in plain code.

``world`` is the place where it happens, ``acts`` what can be done there, ``oracle`` what is true,
``rules`` the random search, ``directed`` one short sequence for each kind of fault that was found
once, ``mends`` what keeps them from coming back, taken out one by one.
"""
