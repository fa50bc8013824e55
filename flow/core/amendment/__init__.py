"""The rules of an amendment: the class of each change, and the diff against a trusted contract.

The tables here know the meaning of every key of a contract.
"""
