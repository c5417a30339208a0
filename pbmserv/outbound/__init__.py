"""The last room: letters leave it for a relay, or for Maildirs on this machine."""
