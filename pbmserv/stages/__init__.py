"""The stages of a server: each wired, started, reloaded and stopped, in a process of its own."""
