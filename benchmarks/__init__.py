"""Measurements of the whole server beside other servers; `python -m benchmarks`."""
