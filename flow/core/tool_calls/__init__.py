"""Which tool calls of an agent only a person may allow, and what the person is asked."""
