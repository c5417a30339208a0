"""Reads a mail: from octets to what a person wrote, trusting none of them."""
