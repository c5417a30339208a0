"""How Blackbox is written: moves, game IDs, cells, transcripts."""
