"""Transcripts of agents as values, laid out for a judge."""
