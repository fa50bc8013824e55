"""Starting programs: one spawn, tools, programs that are asked a question, what they print.

The one owner of subprocess; verification commands have a room of their own.
"""
