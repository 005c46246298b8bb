"""Searches the unstated parameters of a paper for settings under which its claims hold."""
