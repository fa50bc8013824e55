"""Finding secrets in text, and redacting them.

Tables of shapes with their sources; nothing is read.
"""
