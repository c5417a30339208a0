"""Reads mails, carries them out and answers them."""
