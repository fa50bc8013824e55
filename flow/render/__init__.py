"""Text and pictures of values. Pure: nothing here reads, writes or asks."""
