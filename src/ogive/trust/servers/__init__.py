"""Non-colluding servers that answer from shares, which clients upload once."""

from ogive.trust.servers.model import Servers

__all__ = ["Servers"]
