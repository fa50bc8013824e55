"""The search for secrets in text, and their redaction: tables of shapes with their sources."""
