"""The site for players with its API, the operators' pages, the local mailbox, and the probes."""
