"""HTTP for all applications: connections, a strict parser, and values in requests and responses."""
