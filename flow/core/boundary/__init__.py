"""Which changed paths a goal allows: patterns, change sets, by-products, guards.

Knows no goal, only its rules.
"""
