"""What a goal's report says, as values: one finding for every form that it is written in."""
