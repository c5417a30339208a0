"""The mail domain of the server for tests that read mails without a server."""

from __future__ import annotations

from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain

HOUSE = MailDomain("pbmserv", "games.example", KeyRing({}))
