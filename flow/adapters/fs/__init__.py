"""Files as Flow needs them: no symlink followed, locked, replaced whole.

Beside the standard library only filelock and watchfiles may enter.
"""
