"""Bounces in the format of many mail servers, all about one letter.

The mails are files in `reports`. ``{to}`` is the address that failed, ``{our}`` the envelope sender
of the letter, and ``{returned}`` the letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pbmserv.mail.bounce_codes import Verdict

HARD, SOFT, REFUSED, NONE = Verdict.HARD, Verdict.SOFT, Verdict.REFUSED, None
FOLDER = Path(__file__).parent / "reports"


def written(name: str, **words: str) -> str:
    """Return the mail in a file, with words in the places of their names."""
    text = (FOLDER / f"{name}.eml").read_text("utf-8")
    for place, word in words.items():
        text = text.replace(f"{{{place}}}", word)
    return text


@dataclass(frozen=True)
class ServerReport:
    """A bounce, its meaning, and a phrase of its diagnostic."""

    name: str
    verdict: Verdict | None
    status: str
    says: str
    mail: str

    def raw(self, to: str, our: str) -> bytes:
        """Return its octets, about a letter to *to*."""
        text = self.mail.replace("{returned}", written("returned"))
        return text.replace("{to}", to).replace("{our}", our).replace("\n", "\r\n").encode()


def multipart(head: str, notice: str, status: str, boundary: str = "==frontier") -> str:
    """A multipart/report (RFC 6522) of the usual three parts."""
    return f"""{head}
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="{boundary}"

This is a MIME-encapsulated message.

--{boundary}
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

{notice}

--{boundary}
Content-Description: Delivery report
Content-Type: message/delivery-status

{status}

--{boundary}
Content-Description: Undelivered Message
Content-Type: message/rfc822

{{returned}}
--{boundary}--
"""


def by_server(name: str, verdict: Verdict | None, status: str = "", says: str = "") -> ServerReport:
    """Return the report in the file of that name."""
    return ServerReport(name, verdict, status, says, written(name))


def by_postfix(
    name: str, verdict: Verdict | None, status: str, says: str, code: str, action: str = "failed"
) -> ServerReport:
    """Return a report of Postfix's bounce(8)."""
    mail = written("postfix", action=action, status=status, code=code)
    return ServerReport(name, verdict, status if verdict else "", says, mail)


RECEIPT = by_server("receipt", NONE)

REPORTS: tuple[ServerReport, ...] = (
    by_postfix(
        *("postfix", HARD, "5.1.1", "User unknown"),
        "smtp; 550 5.1.1 <{to}>: Recipient address rejected: User unknown",
    ),
    by_postfix(
        *("postfix-no-host", HARD, "5.4.4", "Host or domain name not found"),
        "X-Postfix; Host or domain name not found. Name service error",
    ),
    by_postfix(
        *("postfix-given-up", SOFT, "4.4.1", "timed out"),
        "X-Postfix; connect to mail.players.example[192.0.2.7]:25: timed out",
    ),
    by_postfix(
        *("postfix-full", SOFT, "5.2.2", "Quota exceeded"),
        "smtp; 552 5.2.2 <{to}> Quota exceeded (mailbox for user is full)",
    ),
    by_postfix(
        *("postfix-filter", REFUSED, "5.7.1", "Message rejected as spam"),
        "smtp; 550 5.7.1 Message rejected as spam, user unknown to love it",
    ),
    by_postfix(
        *("postfix-too-large", REFUSED, "5.3.4", "size limit"),
        "smtp; 552 5.3.4 Message size exceeds fixed size limit",
    ),
    by_postfix("postfix-delayed", NONE, "4.4.1", "", "X-Postfix; timed out", "delayed"),
    by_postfix("postfix-delivered", NONE, "2.0.0", "", "smtp; 250 ok", "delivered"),
    by_postfix("postfix-relayed", NONE, "2.0.0", "", "smtp; 250 ok", "relayed"),
    by_postfix("postfix-expanded", NONE, "2.0.0", "", "smtp; 250 ok", "expanded"),
    by_server("exchange-online", HARD, "5.1.10", "RecipientNotFound"),
    by_server("microsoft-plain", HARD, "5.1.1", "RecipNotFound"),
    ServerReport(
        *("microsoft-html", HARD, "5.1.10", "RecipientNotFound"),
        written("microsoft-html", unused=".unused { color: #5a5; }\n" * 900),
    ),
    by_server("plain-delayed", NONE),
    by_server("exchange-old", HARD, "", "not recognized"),
    by_server("gmail", HARD, "5.1.1", "does not exist"),
    by_server("exim", SOFT, "5.0.0", "Mailbox full"),
    by_server("exim-old", HARD, "5.1.1", "No such user here"),
    by_server("qmail", HARD, "5.1.1", "no mailbox here by that name"),
    by_server("sendmail", HARD, "5.1.1", "User unknown"),
    by_server("yahoo", HARD, "", "doesn't have a yahoo.com account"),
    by_server("opensmtpd", HARD, "5.1.1", "5.1.1"),
    by_server("gmail-delayed", NONE),
    RECEIPT,
    ServerReport(
        *("complaint", NONE, "", ""),
        RECEIPT.mail.replace("disposition-notification", "feedback-report"),
    ),
)
