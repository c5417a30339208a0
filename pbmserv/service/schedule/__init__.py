"""What happens at a time: clocks, digests, and the end of old texts."""
