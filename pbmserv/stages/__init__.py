"""One process: its parts wired, started, reloaded and stopped."""
