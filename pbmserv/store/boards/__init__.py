"""Boards and what is done on them: tables and rows."""
