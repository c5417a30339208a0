"""Programs that make data files of the package. Each compares, or writes with --write."""
