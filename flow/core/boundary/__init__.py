"""The path boundary: patterns, change sets, by-products, guards. Knows no goal, only its rules."""
