"""The conversation with a person about a new goal. Writes nothing."""
