"""Checks the sender of a mail: SPF, DKIM, DMARC, ARC, and results of trusted servers."""
