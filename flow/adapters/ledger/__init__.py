"""The record of a run: evidence, verdicts, proposals, and the transactions that change goals.

The file ``ledger.jsonl`` itself, a hash chain, and its trust anchor are in ``adapters/chain``.
"""
