"""Scoring one execution of a skill: prompt, reply, card, history."""
