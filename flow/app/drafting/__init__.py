"""How a new goal is talked through with a person. Nothing here writes."""
