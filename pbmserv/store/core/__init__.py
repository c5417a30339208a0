"""Databases, writers, statements and the schema."""
