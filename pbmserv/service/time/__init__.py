"""Clocks of boards, local time, and threads that work in rounds."""
