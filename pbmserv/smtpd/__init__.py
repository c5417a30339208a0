"""SMTP and LMTP sessions: octets off the wire, and the replies."""
