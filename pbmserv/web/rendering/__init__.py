"""Renders templates as pages, and keeps pages that are the same for all readers."""
