"""Listening sockets, and limits on the connections of each."""
