"""The judges' questions and replies: text and arithmetic on values (SPEC 9.1)."""
