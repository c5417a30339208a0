"""Judges refusals of mail: the address does not exist, cannot take mail now, or rejects us.

Reports of returned letters (`inbound.dsn`) and replies of relays (`outbound.smtp`) are judged by
the same rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

LONGEST_DIAGNOSTIC = 300
"""Characters of a mail server's words that are kept."""


class Verdict(Enum):
    """The meaning of a refusal for the address."""

    HARD = "hard"
    """The address does not exist: no such user, no such host, or a closed mailbox."""
    SOFT = "soft"
    """The address cannot take mail now: it is full, slow, or its host is unreachable."""
    REFUSED = "refused"
    """The letter or its sender was rejected, which says nothing about the address."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A recipient to whom a letter was not delivered.

    Attributes:
        status: enhanced status code (RFC 3463) such as ``5.1.1``; ``""`` for none.
        diagnostic: the mail server's words, one printable line.
        recipients: all addresses of this recipient in the report, in lower case.
    """

    verdict: Verdict
    status: str
    diagnostic: str
    recipients: frozenset[str]


_ENHANCED = re.compile(r"(?<!\d)(?<!\d\.)([245])\.([0-7])\.(\d{1,3})(?!\d|\.\d)")
_BASIC = re.compile(r"(?<![\d.])([45])(\d\d)(?![\d.]\d)(?=[ \t\r\n;:,.)-]|\Z)")
_COMMAND = re.compile(r"(?:given up after \d+ days: )?(RCPT TO|DATA): ([45].*)", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z2-7]{20,}")

# Names could mislead: "spam@policy.example" says nothing about spam.
_ADDRESS = re.compile(r"<?[^\s<>()\"',;:]{1,64}@[^\s<>()\"',;:]{1,254}>?")
_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_LINK_ABOUT_US = re.compile(r"spamhaus|spamcop|[?&]ip=", re.IGNORECASE)

# Codes of RFC 3463 and the IANA registry, without their class: the address does not exist …
_NOBODY = frozenset(
    {
        *("1.1", "1.2", "1.3", "1.4", "1.6", "1.10"),  # bad, moved, or null MX (RFC 7505)
        "1.351",  # Microsoft: another server does not know the recipient
        "2.1",  # the mailbox is closed
        *("4.1", "4.4", "4.310", "4.312"),  # no such host; 4.1 is Exchange Online's "no such user"
    }
)
# … or the letter or its sender is rejected. All of x.6 and x.7 mean that, too.
_THIS_LETTER = frozenset({"1.7", "1.8", "1.9", "1.20", "1.90", "2.3", "3.4"})

_IP = r"\[?(?:\d{1,3}(?:\.\d{1,3}){3}|(?<![0-9a-f:])[0-9a-f]{1,4}:[0-9a-f:]{3,40}(?![0-9a-f:]))\]?"
_REJECTS = r"(?:reject|refus|den(?:y|ied)|block|bann|list|not (?:allow|accept|permit|author))"

_SENDER = re.compile(
    # our address
    r"\bsender(?:'s)?(?: \w+){0,2}? (?:reject|denied|refus|verif|unknown|invalid|not\b|do(?:es)?\b"
    r"|could|can|is\b|has\b|block|un\w)"
    r"|\b(?:unknown|invalid|un\w+ed|bad|verify|banned|sending|envelope|domain of) "
    r"(?:the )?(?:envelope )?(?:sender|ip|mta|server|host|domain of)\b|sending domain|badmailfrom"
    r"|not allowed to send|\bspf\b|\bdmarc\b|\bdkim\b|anti-?spoof|spoof|unauthenticated"
    r"|not authenticated|authentication (?:is )?required|authentication (?:level|check|fail)"
    # our machine
    r"|\byour (?:\w+ )?(?:ip|server|host|hostname|network|domain|mta|reputation|access|provider"
    r"|isp|internet service provider)\b"
    r"|\bclient host\b|\bconnections? (?:will|from|not|is|are|was)\b.{0,20}not"
    rf"|(?:messages?|mail|connections?) from (?:the )?(?:ip |host )?{_IP}|\bip={_IP}"
    rf"|{_IP}.{{0,40}}{_REJECTS}|\bip (?:address|is|was|has)?\b.{{0,40}}{_REJECTS}"
    r"|blocked using|\b(?:reputation)\b"
    # lists of machines
    r"|spamhaus|spamcop|\brbls?\b|\bdnsbls?\b|black ?list|block ?list|deny ?list"
    r"|\blisted (?:at|by|in|on)\b"
    # names of machines
    r"|\bptr\b|\brdns\b|reverse (?:dns|host|lookup|address|record)|\bhelo\b|\behlo\b"
    r"|(?:find|resolve) your"
    # our right to relay
    r"|\brelay(?:ing|ed)? (?:\w+ ){0,2}?(?:denied|not|prohibit|refus|forbid)|\b(?:to|be) relay"
    r"|\b(?:not|no|won't|cannot|unauthorized) relay|rcpthosts",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(
    r"too many (?!hops|received)|too fast|rate.?limit|throttl|unusual rate|unexpected volume"
    r"|deferred due to",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"over ?quota|quota (?:is )?exceed|exceed\w{0,9} (?:\w{1,30} )?(?:quota|storage)|full mailbox"
    r"|(?:mailbox|inbox|mailfolder)(?: \w+ \w+ \w+)? (?:is )?full|out of (?:storage|space)"
    r"|insufficient (?:disk|storage|system)|too quickly|(?<!unusual )\bat a rate",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:user|host|recipient|address|addressee|mailbox|account) (?:is )?unknown"
    r"|unknown (?:user|recipient|mailbox|address|local|host)"
    r"|n[o']t exist|no such|no mailbox|no user here|not (?:our customer|local\b)|null mx"
    r"|invalid (?:recipient|mailbox|user|address)|unrout[e]?able|any host (?:named|by that)"
    r"|not a (?:known|valid) (?:user|recipient|mailbox|address|account)|no one (?:with|by|of) that"
    r"|no longer (?:accepts|valid|exists|in use|here|available)"
    r"|(?:mailbox|recipient|address|user|host|domain|account) (?:name )?"
    r"(?:was |is |could |has been )?(?:not (?:be )?found|not recogni[sz]ed|unavailable|disabled"
    r"|inactive|closed|deactivated|discontinued)"
    r"|doesn't have an? \S{0,60} ?account",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"service (?:is )?(?:\w+ )?unavailable|try(?:ing)? (?:it )?again|temporar|time(?:d )?out"
    r"|connection (?:refused|reset|closed|lost)|network (?:error|is)|unreachable|no answer"
    r"|queue too long|gr[ae]ylist",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"spam|unsolicited|polic(?:y|ies)|block(?:ed|ing)|banned|\bvirus|infected|malware|complaint"
    r"|content (?:denied|reject|filter|not)|suspicious|message size|too (?:large|big)|hops",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]{3}")
_DENIED = re.compile(
    r"denied|reject|refused|prohibit|forbid|disallow|not (?:allow|permit|accept|welcome|authori)"
    r"|no access",
    re.IGNORECASE,
)


def judge(status: str, diagnostic: str) -> Verdict:
    """Return the meaning of a final failure for the recipient's address.

    Without evidence about the recipient the verdict is not hard: one blocklist would otherwise
    suspend every address of a provider. Status 5.0.0 says nothing (RFC 3463 section 3.1), and a
    550 may be policy (RFC 5321 section 4.2.3).

    Args:
        status: the reporting server's status code (RFC 3463), ``""`` for none. It is often a
            guess: Sendmail reports each 550 as 5.1.1.
        diagnostic: the words of the server that refused (RFC 3464 section 2.3.6). They outrank
            the status, and words about the sender outrank every code.
    """
    words = _plain(diagnostic)
    code_in_words = _specific(diagnostic)
    code = code_in_words or _specific(status)
    if code is None:
        code = _ENHANCED.search(diagnostic) or _ENHANCED.fullmatch(status)
    kind, subject, detail = ("", "", "") if code is None else code.group(1, 2, 3)
    name = f"{subject}.{int(detail or 0)}"
    if kind == "2" or name in _THIS_LETTER or subject in {"6", "7"} or is_about_sender(diagnostic):
        return Verdict.REFUSED
    if _FULL.search(words):
        return Verdict.SOFT
    if _TOO_MUCH.search(words):
        return Verdict.REFUSED
    if kind == "4":
        return Verdict.SOFT
    if name in _NOBODY and (code_in_words is not None or not _LETTER.search(words)):
        if _UNKNOWN.search(words):
            return Verdict.HARD
        if _CONTENT.search(words):
            return Verdict.REFUSED
        return Verdict.SOFT if _NOT_NOW.search(words) else Verdict.HARD
    if subject in {"2", "3", "4"}:
        return _by_words(words, Verdict.SOFT)
    return _by_words(words, Verdict.REFUSED if subject == "5" else None)


def is_about_sender(reply: str) -> bool:
    """Return whether a refusal is about us: our address, domain, machine, or right to relay."""
    code = _specific(reply)
    if code is not None and code[0].startswith(("5.1.7", "5.1.8")):
        return True
    return any(map(_LINK_ABOUT_US.search, _LINK.findall(reply))) or bool(
        _SENDER.search(_plain(reply))
    )


def is_about_rate(reply: str) -> bool:
    """Return whether a refusal says that we send too much at a time."""
    return _TOO_MUCH.search(_plain(reply)) is not None


def _specific(words: str) -> re.Match[str] | None:
    """Return the first enhanced status code with a meaning, which x.0.y lacks."""
    return next((code for code in _ENHANCED.finditer(words) if code[2] != "0"), None)


def _plain(words: str) -> str:
    """Return a server's words without addresses and links, whose names could mislead."""
    return " ".join(_LINK.sub(" ", _ADDRESS.sub(" ", words)).split())


def status_in(words: str) -> str:
    """Return the first enhanced status code with a meaning, else the first one; ``""`` for none."""
    code = _specific(words) or _ENHANCED.search(words)
    return code[0] if code else ""


def of_refusal(error: str, recipient: str) -> Failure | None:
    """Return the meaning of a relay's refusal for the recipient; `None` if it is not about them.

    Args:
        error: the command and the relay's reply, in the words of `outbound.smtp`. Only refusals of
            RCPT TO are about the recipient, and in LMTP those of DATA with such a code (RFC 2033
            section 4.2).
    """
    command = _COMMAND.match(error)
    if command is None:
        return None
    diagnostic = one_line(command[2])
    status = status_in(diagnostic)
    if command[1] == "DATA" and not status.startswith(("5.1.", "5.2.", "4.2.")):
        return None
    return Failure(judge(status, diagnostic), status, diagnostic, frozenset({recipient.lower()}))


def one_line(words: str) -> str:
    """Return a mail server's words as one printable line, without tokens of reply addresses."""
    plain = "".join(char if char.isprintable() else " " for char in words[: 4 * LONGEST_DIAGNOSTIC])
    return " ".join(_TOKEN.sub("***", plain).split())[:LONGEST_DIAGNOSTIC].strip()


def _by_words(words: str, usual: Verdict | None) -> Verdict:
    """Return the verdict of a server's words.

    Args:
        usual: the verdict if the words say nothing; `None` to decide by the basic code.
    """
    if _CONTENT.search(words):
        return Verdict.REFUSED
    if _UNKNOWN.search(words):
        return Verdict.HARD
    if _NOT_NOW.search(words):
        return Verdict.SOFT
    if usual is not None:
        return usual
    if _DENIED.search(words):
        return Verdict.REFUSED
    code = _BASIC.search(words)
    if code is None or code[1] == "4":
        return Verdict.SOFT  # no reason is given
    # RFC 5321 section 4.2.3: 550, 551 and 553 may be about the mailbox, 552 about its size.
    return Verdict.SOFT if code[2] in {"50", "51", "52", "53"} else Verdict.REFUSED
