"""The queue of letters, and their delivery to a relay or to Maildirs on this machine."""
