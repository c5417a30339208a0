"""Clocks and what falls due."""
