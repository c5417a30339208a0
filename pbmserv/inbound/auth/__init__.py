"""Who sent a mail: SPF, DKIM, DMARC, ARC, and what a trusted mail server found out before us."""
