"""What mail is made of for every package: addresses, networks, domains, envelopes."""
