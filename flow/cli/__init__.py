"""The ``flow`` command: words in, one call, text or one JSON document out, an exit status."""
