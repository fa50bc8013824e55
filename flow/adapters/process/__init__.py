"""Starting programs: one spawn, tools, programs that get a question, their output.

The one owner of subprocess; verification commands have a room of their own.
"""
