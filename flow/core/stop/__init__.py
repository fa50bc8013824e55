"""What the Stop hook answers: its policy, the words of its messages, what each host takes."""
