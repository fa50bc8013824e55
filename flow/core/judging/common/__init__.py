"""What all judgements share: quotes, shapes of replies, numbers as they are written."""
