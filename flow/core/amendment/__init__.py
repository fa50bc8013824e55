"""How a contract may be amended: each change with its class, and what a trusted contract became.

Knows what every key of a contract asks for.
"""
