"""Measures what the README quotes, as ratios to bare aiosmtpd; `python -m benchmarks`."""
