"""Values of mail for all packages: addresses, networks, envelopes, kinds of letters."""
