"""Rows of mails that arrive, of letters, and of bounces."""
