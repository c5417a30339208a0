"""Clocks and what falls due: tables and rows."""
