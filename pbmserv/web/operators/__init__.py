"""The operators' pages: an application with a listener and sessions of its own."""
