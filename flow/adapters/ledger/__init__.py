"""The record of a run: evidence, verdicts, proposals, transactions over them.

What vouches for it is in ``adapters/chain``.
"""
