"""Ratings: tables and rows."""
