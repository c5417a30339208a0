"""Clocks of boards, and local time."""
