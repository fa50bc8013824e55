"""A checkout in which goals begin and contracts change: one class behind each port of it."""
