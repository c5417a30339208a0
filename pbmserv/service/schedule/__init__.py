"""Work that is due at a time: clocks, digests, and the expiry of texts."""
