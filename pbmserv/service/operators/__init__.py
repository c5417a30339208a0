"""Deeds of operators, and the facts that operators read."""
