"""Identifies the congestion control of a captured flow from its bytes in flight and its queue."""
