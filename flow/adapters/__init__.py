"""Everything outside of values: one module for each thing Flow touches."""
