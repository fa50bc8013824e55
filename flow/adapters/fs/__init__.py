"""Files as Flow needs them: no symlink followed, locked, replaced whole.

Only the standard library and filelock may enter.
"""
