"""The replies to a mail: whether it is stored, and if not, whether to send it again."""

from __future__ import annotations

TAKEN = "250 2.0.0 OK"  # the arrival's number follows, by which the log can be searched
TRY_LATER = "451 4.3.0 cannot take mail just now, please try again later"
TOO_MANY = "451 4.7.1 too many mails from you, please try again later"
LANE_FULL = "451 4.3.2 too many mails from you wait here already, please try again later"
FORGED = "550 5.7.26 the domain of the From address says (DMARC) that this mail is not from it"
