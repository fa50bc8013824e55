"""The sequences: what Flow does, step by step, against the small interfaces of ``ports``."""
