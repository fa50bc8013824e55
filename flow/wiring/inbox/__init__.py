"""The inbox of a user: the checkouts that their state folder knows, and what is in them."""

from flow.wiring.inbox.items import InboxQuery, forget, inbox

__all__ = ["InboxQuery", "forget", "inbox"]
