"""The turns of bots: tables and rows."""
