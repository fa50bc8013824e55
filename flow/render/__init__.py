"""Text and pictures of values: nothing here reads or asks, and only progress is written."""
