"""The settings of a server: their declaration, their sources, and sentences about wrong ones."""
