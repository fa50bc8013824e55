"""The version of Flow; whatever names it reads it here."""

__version__ = "0.1.0"
