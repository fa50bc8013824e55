"""The record of a run: evidence, verdicts, proposals, and the transactions that change goals.

What vouches for it is in ``adapters/chain``.
"""
