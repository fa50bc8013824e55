"""Scenes that many tests begin with: made once, and put back for each of them."""
