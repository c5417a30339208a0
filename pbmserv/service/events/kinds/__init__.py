"""Kinds of events: a file for each, which says in what it differs from the others."""
