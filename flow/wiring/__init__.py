"""Picks the real parts and puts them together; nothing here decides.

:class:`~flow.wiring.context.Context` is one checkout, built once per command. Each other module has
the service of one subject, is given the context, and is loaded by the commands that need it. Those
that start often (hook, helpers, ``status``) import in functions what they may not need.
"""
