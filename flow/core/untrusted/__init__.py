"""Foreign text in a prompt: fenced, and searched for instructions to a judge."""
