"""Analysis of a shell text: the commands that can fail without the whole text failing.

Only parsed shell and tables enter.
"""
