"""Text of others in a prompt: fenced, and searched for what would instruct a judge."""
