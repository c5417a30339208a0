"""The command line: one file for each group of commands; `main` is its entry point."""
