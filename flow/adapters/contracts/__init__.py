"""Reading, checking and editing goal files: the one owner of yaml and jsonschema.

Nothing here runs a command or knows a repository.
"""
