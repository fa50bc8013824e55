"""Parts shared by all judgements: quotes, shapes of replies, numbers as written."""
