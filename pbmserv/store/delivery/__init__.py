"""Mail that came, letters that go, and digests: tables and rows."""
