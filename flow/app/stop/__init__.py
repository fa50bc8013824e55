"""The Stop hook: one list of steps at each stop of an agent."""
