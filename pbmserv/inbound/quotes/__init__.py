"""Separates the new text of a reply from its quotes and signatures."""
