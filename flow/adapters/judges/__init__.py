"""The backends of a judge (SPEC 9.1), and what they share.

``choose`` picks one; what it gives is a :class:`flow.app.judging.port.AskJudge`. Nothing here is
imported by the hook, the helpers or an evaluation unless a judge is asked.
"""
