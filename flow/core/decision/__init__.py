"""From evidence, boundary and judgement to a verdict, and the words of a verdict.

Everything is a value; nothing is read.
"""
