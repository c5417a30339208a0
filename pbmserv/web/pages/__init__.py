"""The pages, feeds and files for players and readers: one module for each group of routes."""
