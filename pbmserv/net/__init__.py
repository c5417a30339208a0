"""Listening sockets, and how many connections each may have."""
