"""The hash chain of a run: its lines, the heads that are pinned, and their witnesses.

Only files and the journal may be read here.
"""
