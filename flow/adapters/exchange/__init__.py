"""Formats that others read and write: signed envelopes, keys, results of other tools.

Signing libraries are loaded here only.
"""
