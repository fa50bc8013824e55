"""What happens when an agent stops, as one list of steps."""
