"""The Stop hook's answers: policy, messages, and the hosts' formats."""
