"""Reads whole mails: subjects, bodies and replies."""
