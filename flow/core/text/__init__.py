"""Text for people: made visible, cut to fit, quoted for a shell."""
