"""Rows of boards, moves and challenges."""
