"""The inbox of a user: the checkouts that their state folder knows, and what is in them."""

from flow.wiring.inbox.items import InboxLook, InboxQuery, forget, look

__all__ = ["InboxLook", "InboxQuery", "forget", "look"]
