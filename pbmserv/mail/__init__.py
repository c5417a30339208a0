"""What mail is made of for every room: addresses, networks, domains, envelopes."""
