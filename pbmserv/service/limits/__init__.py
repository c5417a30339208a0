"""Limits on mails, answers and letters."""
