"""Tests whether a command checked anything: by its syntax, programs, reports and files.

The rules are in ``core/attribution``.
"""
