"""From evidence, boundary and judgement to a verdict and its words. Pure values."""
