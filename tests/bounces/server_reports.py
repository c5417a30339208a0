"""Bounces in the format of many mail servers, all about one letter.

``{to}`` is the address that failed, and ``{our}`` the envelope sender of the letter.
"""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.mail.bounce_codes import Verdict

HARD, SOFT, REFUSED, NONE = Verdict.HARD, Verdict.SOFT, Verdict.REFUSED, None

RETURNED = """Return-Path: <{our}>
From: pbmserv <pbmserv@games.example>
To: {to}
Subject: Your move: Blackbox 1 against bob
Message-ID: <1.0.0.abc@games.example>

Delivery to the following recipient failed: <nobody@elsewhere.example>
blackbox resign 1
"""


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
        text = self.mail.replace("{returned}", RETURNED)
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


def postfix(action: str, status: str, code: str) -> str:
    """Postfix's bounce(8)."""
    return multipart(
        """Return-Path: <>
Received: by mx.players.example (Postfix)
\tid 4XyZ12abcdE; Sun,  1 Mar 2026 12:00:00 +0000 (UTC)
Date: Sun,  1 Mar 2026 12:00:00 +0000 (UTC)
From: MAILER-DAEMON@mx.players.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: {our}
Auto-Submitted: auto-replied
Message-Id: <20260301120000.4XyZ12abcdE@mx.players.example>""",
        f"""This is the mail system at host mx.players.example.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

                   The mail system

<{{to}}>: {code}""",
        f"""Reporting-MTA: dns; mx.players.example
X-Postfix-Queue-ID: 4XyZ12abcdE
X-Postfix-Sender: rfc822; {{our}}
Arrival-Date: Sun,  1 Mar 2026 12:00:00 +0000 (UTC)

Final-Recipient: rfc822; {{to}}
Original-Recipient: rfc822;{{to}}
Action: {action}
Status: {status}
Remote-MTA: dns; mail.players.example
Diagnostic-Code: {code}""",
    )


UNKNOWN = "smtp; 550 5.1.1 <{to}>: Recipient address rejected: User unknown"

EXCHANGE_ONLINE = multipart(
    """From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@players.example>
To: <{our}>
Date: Sun, 1 Mar 2026 12:00:00 +0000
Message-ID: <0a1b2c3d-0000@PLAYERS01.prod.outlook.com>
Subject: Undeliverable: Your move: Blackbox 1 against bob
Auto-Submitted: auto-replied""",
    """Delivery has failed to these recipients or groups:

alice ({to})
The email address you entered couldn't be found.""",
    """Reporting-MTA: dns;PLAYERS01.prod.outlook.com
Received-From-MTA: dns;mx.games.example
Arrival-Date: Sun, 1 Mar 2026 12:00:00 +0000

Final-Recipient: rfc822;{to}
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient {to} not found by SMTP
 address lookup""",
    "_000_0a1b_",
)

GMAIL = multipart(
    """Return-Path: <>
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
To: {our}
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
X-Failed-Recipients: {to}
Message-ID: <69a42000.050a0220.1@mx.google.com>""",
    """** Address not found **

Your message wasn't delivered to {to} because the address couldn't be found, or is unable to
receive mail.""",
    """Reporting-MTA: dns; googlemail.com
Received-From-MTA: dns; {our}
Arrival-Date: Sun, 01 Mar 2026 04:00:00 -0800 (PST)
X-Original-Message-ID: <1.0.0.abc@games.example>

Final-Recipient: rfc822; {to}
Action: failed
Status: 5.1.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (192.0.2.26, the server for the domain.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please
 550-5.1.1 double-checking the recipient's email address for typos or
 550 5.1.1 unnecessary spaces. For more information, go to support.
Last-Attempt-Date: Sun, 01 Mar 2026 04:00:01 -0800 (PST)""",
)

EXIM_OLD = """Return-path: <>
Received: from mail by mx.players.example with local (Exim 4.72)
\tid 1abcde-0001aB-Cd
\tfor {our}; Sun, 01 Mar 2026 12:00:00 +0000
X-Failed-Recipients: {to}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.players.example>
To: {our}
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1abcde-0001aB-Cd@mx.players.example>

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  {to}
    SMTP error from remote mail server after RCPT TO:<{to}>:
    host mail.players.example [192.0.2.7]: 550 5.1.1 No such user here

------ This is a copy of the message, including all the headers. ------

{returned}"""

EXIM = multipart(
    """Return-path: <>
X-Failed-Recipients: {to}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.players.example>
To: {our}
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1abcde-0001aB-Cd@mx.players.example>""",
    """This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  {to}
    mailbox is full: retry timeout exceeded""",
    """Reporting-MTA: dns; mx.players.example

Action: failed
Final-Recipient: rfc822;{to}
Status: 5.0.0""",
    "1772366400-eximdsn-1804289383",
).replace("Status: 5.0.0", "Status: 5.0.0\nDiagnostic-Code: smtp; 552 Mailbox full")

QMAIL = """Return-Path: <>
Received: (qmail 4711 invoked for bounce); 1 Mar 2026 12:00:00 -0000
Date: 1 Mar 2026 12:00:00 -0000
From: MAILER-DAEMON@mx.players.example
To: {our}
Subject: failure notice

Hi. This is the qmail-send program at mx.players.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<{to}>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

{returned}"""

SENDMAIL = multipart(
    """Return-Path: <MAILER-DAEMON>
From: Mail Delivery Subsystem <MAILER-DAEMON@mx.players.example>
To: <{our}>
Subject: Returned mail: see transcript for details
Auto-Submitted: auto-generated (failure)
Message-Id: <202603011200.6214aaaa@mx.players.example>""",
    """The original message was received at Sun, 1 Mar 2026 12:00:00 GMT
from mx.games.example [192.0.2.1]

   ----- The following addresses had permanent fatal errors -----
<{to}>
    (reason: 550 5.1.1 <{to}>... User unknown)

   ----- Transcript of session follows -----
... while talking to mail.players.example.:
>>> DATA
<<< 550 5.1.1 <{to}>... User unknown
550 5.1.1 <{to}>... User unknown""",
    """Reporting-MTA: dns; mx.players.example
Received-From-MTA: DNS; mx.games.example
Arrival-Date: Sun, 1 Mar 2026 12:00:00 GMT

Final-Recipient: RFC822; {to}
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mail.players.example
Diagnostic-Code: SMTP; 550 5.1.1 <{to}>... User unknown
Last-Attempt-Date: Sun, 1 Mar 2026 12:00:01 GMT""",
    "6214aaaa.1772366400/mx.players.example",
)

YAHOO = """Return-Path: <>
From: MAILER-DAEMON@yahoo.com
To: {our}
Date: Sun, 01 Mar 2026 12:00:00 -0000
Subject: Failure Notice
X-Uidl: 20260301120000-000

Sorry, we were unable to deliver your message to the following address.

<{to}>:
554: delivery error: dd This user doesn't have a yahoo.com account ({to}) [0] - mta.yahoo.com

--- Below this line is a copy of the message.

{returned}"""

EXCHANGE_OLD = """From: System Administrator <postmaster@players.example>
To: {our}
Subject: Undeliverable: Your move: Blackbox 1 against bob
Date: Sun, 1 Mar 2026 12:00:00 -0000
X-Mailer: Internet Mail Service (5.5.2653.19)
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="----_=_NextPart_000"

This message is in MIME format.

------_=_NextPart_000
Content-Type: text/plain

Your message

  To:      {to}
  Subject: Your move: Blackbox 1 against bob
  Sent:    Sun, 1 Mar 2026 12:00:00 -0000

did not reach the following recipient(s):

{to} on Sun, 1 Mar 2026 12:00:00 -0000
    The recipient name is not recognized
        The MTS-ID of the original message is: c=us;a= ;p=players;l=X1
    MSEXCH:IMS:players:MAIL:X1 0 (000C05A6) Unknown Recipient

------_=_NextPart_000
Content-Type: message/rfc822

{returned}
------_=_NextPart_000--
"""

OPENSMTPD = multipart(
    """Subject: Delivery status notification: error
From: Mailer Daemon <MAILER-DAEMON@mx.players.example>
To: {our}
Date: Sun, 1 Mar 2026 12:00:00 +0000 (UTC)""",
    """    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

{to}: 550 5.1.1 User unknown""",
    """Reporting-MTA: dns; mx.players.example

Final-Recipient: rfc822; {to}
Action: error
Status: 5.1.1""",
    "mx.players.example/1772366400",
)

DELAYED_GMAIL_OLD = """Return-Path: <>
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
To: {our}
Subject: Delivery Status Notification (Delay)

This is an automatically generated Delivery Status Notification

Delivery to the following recipient has been delayed:

     {to}

Message will be retried for 2 more day(s)

{returned}"""

RECEIPT = """From: alice <{to}>
To: {our}
Subject: Read: Your move: Blackbox 1 against bob
MIME-Version: 1.0
Content-Type: multipart/report; report-type=disposition-notification; boundary=x

--x
Content-Type: text/plain

Your message was displayed. <{to}>: user unknown

--x
Content-Type: message/disposition-notification

Final-Recipient: rfc822;{to}
Action: failed
Status: 5.1.1
Disposition: manual-action/MDN-sent-manually; displayed

--x--
"""

COMPLAINT = RECEIPT.replace("disposition-notification", "feedback-report")

MICROSOFT_PLAIN = """From: Microsoft Outlook <MicrosoftExchange329e@players.example>
To: {our}
Subject: Undeliverable: Your move: Blackbox 1 against bob
Message-ID: <ndr1@players.example>
Content-Type: text/plain; charset=us-ascii

Delivery has failed to these recipients or groups:

{to}<mailto:{to}>
The email address you entered couldn't be found. Please check it and try again.

Diagnostic information for administrators:

Generating server: DB9PR01MB1234.eurprd01.prod.exchangelabs.com

{to}
Remote Server returned '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found'
"""

MICROSOFT_HTML = """From: postmaster@players.example
To: {our}
Subject: Unzustellbar: Your move: Blackbox 1 against bob
Message-ID: <ndr2@players.example>
Content-Type: text/html; charset=utf-8

<html><head><style>
"""
MICROSOFT_HTML += ".unused { color: #5a5; }\n" * 900
MICROSOFT_HTML += """</style></head><body>
<p>Ihre Nachricht an <a href="mailto:{to}">{to}</a> konnte nicht zugestellt werden.</p>
<table><tr><td>Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound;
Recipient {to} not found by SMTP address lookup'</td></tr></table></body></html>
"""

PLAIN_DELAYED = """From: postmaster@players.example
To: {our}
Subject: Undelivered so far: Blackbox 1
Message-ID: <ndr3@players.example>
Content-Type: text/plain

Your message to {to} has not yet been delivered: 550 5.1.1 no such user.
Delivery attempts will continue for five days.
"""

REPORTS: tuple[ServerReport, ...] = (
    ServerReport("postfix", HARD, "5.1.1", "User unknown", postfix("failed", "5.1.1", UNKNOWN)),
    ServerReport(
        "postfix-no-host",
        HARD,
        "5.4.4",
        "Host or domain name not found",
        postfix("failed", "5.4.4", "X-Postfix; Host or domain name not found. Name service error"),
    ),
    ServerReport(
        "postfix-given-up",
        SOFT,
        "4.4.1",
        "timed out",
        postfix(
            "failed", "4.4.1", "X-Postfix; connect to mail.players.example[192.0.2.7]:25: timed out"
        ),
    ),
    ServerReport(
        "postfix-full",
        SOFT,
        "5.2.2",
        "Quota exceeded",
        postfix(
            "failed", "5.2.2", "smtp; 552 5.2.2 <{to}> Quota exceeded (mailbox for user is full)"
        ),
    ),
    ServerReport(
        "postfix-filter",
        REFUSED,
        "5.7.1",
        "Message rejected as spam",
        postfix(
            "failed", "5.7.1", "smtp; 550 5.7.1 Message rejected as spam, user unknown to love it"
        ),
    ),
    ServerReport(
        "postfix-too-large",
        REFUSED,
        "5.3.4",
        "size limit",
        postfix("failed", "5.3.4", "smtp; 552 5.3.4 Message size exceeds fixed size limit"),
    ),
    ServerReport(
        "postfix-delayed", NONE, "", "", postfix("delayed", "4.4.1", "X-Postfix; timed out")
    ),
    ServerReport("postfix-delivered", NONE, "", "", postfix("delivered", "2.0.0", "smtp; 250 ok")),
    ServerReport("postfix-relayed", NONE, "", "", postfix("relayed", "2.0.0", "smtp; 250 ok")),
    ServerReport("postfix-expanded", NONE, "", "", postfix("expanded", "2.0.0", "smtp; 250 ok")),
    ServerReport("exchange-online", HARD, "5.1.10", "RecipientNotFound", EXCHANGE_ONLINE),
    ServerReport("microsoft-plain", HARD, "5.1.1", "RecipNotFound", MICROSOFT_PLAIN),
    ServerReport("microsoft-html", HARD, "5.1.10", "RecipientNotFound", MICROSOFT_HTML),
    ServerReport("plain-delayed", NONE, "", "", PLAIN_DELAYED),
    ServerReport("exchange-old", HARD, "", "not recognized", EXCHANGE_OLD),
    ServerReport("gmail", HARD, "5.1.1", "does not exist", GMAIL),
    ServerReport("exim", SOFT, "5.0.0", "Mailbox full", EXIM),
    ServerReport("exim-old", HARD, "5.1.1", "No such user here", EXIM_OLD),
    ServerReport("qmail", HARD, "5.1.1", "no mailbox here by that name", QMAIL),
    ServerReport("sendmail", HARD, "5.1.1", "User unknown", SENDMAIL),
    ServerReport("yahoo", HARD, "", "doesn't have a yahoo.com account", YAHOO),
    ServerReport("opensmtpd", HARD, "5.1.1", "5.1.1", OPENSMTPD),
    ServerReport("gmail-delayed", NONE, "", "", DELAYED_GMAIL_OLD),
    ServerReport("receipt", NONE, "", "", RECEIPT),
    ServerReport("complaint", NONE, "", "", COMPLAINT),
)
