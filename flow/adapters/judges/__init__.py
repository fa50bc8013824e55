"""The backends of a judge (SPEC 9.1), and the code that they share.

``choose`` picks one and returns a :class:`flow.app.judging.port.AskJudge`. The hook, the helpers
and an evaluation import this room only to ask a judge.
"""
