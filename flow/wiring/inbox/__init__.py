"""The inbox of a user: the checkouts that their state folder knows, and what is in them."""

from flow.wiring.inbox.items import InboxQuery, checkouts, forget, inbox

__all__ = ["InboxQuery", "checkouts", "forget", "inbox"]
