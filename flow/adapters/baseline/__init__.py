"""The state that a goal pins when it begins, the working tree compared with it, and base runs.

A base run (``flow goal baseline``) is in a checkout of the base commit beside the working tree:
``runs``, ``checkout``, ``links`` and ``work_folder``. Nothing of the user's checkout is changed.
"""
