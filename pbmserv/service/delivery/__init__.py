"""Mail that came, letters that go, and digests."""
