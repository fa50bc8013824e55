"""Which commands of a shell text can fail without the text failing.

Only parsed shell and tables enter.
"""
