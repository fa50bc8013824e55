"""Text that a new goal may begin with: from a specification folder, or from what a project holds.

Everything here only proposes. A person reads it before it becomes a contract.
"""
