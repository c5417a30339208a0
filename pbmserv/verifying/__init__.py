"""Checks finished boards by the letters of a mailbox, without a server (decision 0151)."""
