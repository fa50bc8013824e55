"""The record of a run: evidence, verdicts, proposals, and the transactions that change goals.

Its trust anchor is in ``adapters/chain``.
"""
