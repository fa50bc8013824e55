"""The inbox of a user: the checkouts that their state folder knows, and what is in them."""

from flow.wiring.inbox.items import InboxLook, InboxQuery, forget, inbox, look

__all__ = ["InboxLook", "InboxQuery", "forget", "inbox", "look"]
