"""The path boundary: patterns, change sets, by-products, guards. Nothing here knows a goal."""
