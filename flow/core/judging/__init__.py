"""What a judge is given and what it may say: text and arithmetic on values (SPEC 9.1)."""
