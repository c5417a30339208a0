"""Reads received mails: from octets to the words of a person."""
