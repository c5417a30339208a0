"""Checks the sender of a mail: SPF, DKIM, DMARC, ARC, and results of trusted servers.

`senders` checks mails in threads. `verdict` checks one mail: it asks `spf`, `dkim`, `results` and
`arc` for a `Finding` each, and `dmarc` for what the domain wants done with mails that are not
proven.
"""
