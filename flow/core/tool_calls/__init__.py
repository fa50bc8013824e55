"""The tool calls of an agent that only a person may allow, and the questions about them."""
