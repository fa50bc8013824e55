"""The decision journal: the text of its entries, and the file that they are appended to.

It does not use runs.
"""
