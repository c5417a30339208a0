"""Proof of senders: passwords, lockouts, verified addresses."""
