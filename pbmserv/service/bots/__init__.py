"""The turns of bots."""
