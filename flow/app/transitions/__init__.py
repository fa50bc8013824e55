"""Moves of a goal that a person makes: create, amend, approve, confirm, close."""
