"""Who speaks: passwords and proofs."""
