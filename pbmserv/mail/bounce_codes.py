"""What a refusal of mail says about an address: nobody is there, not now, or nothing at all.

The readers of reports (`inbound`) and of a relay's refusals (`outbound`) both ask here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

LONGEST_DIAGNOSTIC = 300
"""Characters of a mail server's words that are kept."""


class Verdict(Enum):
    """What a refusal says about the address."""

    HARD = "hard"
    """Nobody is there: no such user, no such host, the mailbox is closed."""
    SOFT = "soft"
    """It cannot take mail at present: full, slow, or its host could not be reached for days."""
    REFUSED = "refused"
    """This letter was not wanted, which says nothing about the address."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One recipient who did not get a letter.

    Attributes:
        status: enhanced status code (RFC 3463) such as ``5.1.1``, ``""`` for none.
        diagnostic: what the mail server said, one printable line.
        recipients: every address that the report has for this recipient, in lower case.
    """

    verdict: Verdict
    status: str
    diagnostic: str
    recipients: frozenset[str]


_ENHANCED = re.compile(r"(?<!\d)(?<!\d\.)([245])\.(\d{1,3})\.(\d{1,3})(?!\d|\.\d)")
_BASIC = re.compile(r"(?<![\d.])([45])(\d\d)(?![\d.]\d)(?=[ \t\r\n;:,.)-]|\Z)")
_COMMAND = re.compile(r"(?:given up after \d+ days: )?(RCPT TO|DATA): ([45].*)", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z2-7]{20,}")

# x.subject.detail codes of RFC 3463 and the IANA registry that say that nobody is there …
_NOBODY = frozenset(
    {
        *("1.0", "1.1", "1.2", "1.3", "1.4", "1.6", "1.10"),  # bad, moved, or null MX (RFC 7505)
        "2.1",  # the mailbox is closed
        *("4.1", "4.4", "4.310", "4.312"),  # no such host; 4.1 is Exchange Online's "no such user"
    }
)
# … and those that are about this letter, or about us as its sender.
_THIS_LETTER = frozenset({"1.7", "1.8", "1.9", "2.3", "3.4"})

_FULL = re.compile(
    r"over ?quota|quota (?:is )?exceed|exceed\w{0,9} (?:\w{1,30} )?quota|full mailbox"
    r"|(?:mailbox|inbox|mailfolder) (?:is )?full|out of (?:storage|space)"
    r"|insufficient (?:disk|storage|system)|too quickly|at a rate",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"spam|spoof|block(?:ed|list| list)|blacklist|denylist|listed (?:at|by|in|on)|rbl\b|dnsbl"
    r"|reputation|polic(?:y|ies)|dmarc|\bspf\b|dkim|relay(?:ing)? (?:access )?(?:denied|not)"
    r"|unable to relay|\bvirus|unsolicited|banned|content (?:rejected|filter)|authenticat",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"user (?:is )?unknown|unknown (?:user|recipient|mailbox|address|local)|n[o']t exist"
    r"|no such (?:user|mailbox|recipient|address|person|account)|no mailbox|no user here"
    r"|invalid (?:recipient|mailbox|user|address)|recipient (?:address )?rejected"
    r"|(?:mailbox|recipient|address|user|host|domain|account) (?:name )?(?:was |is )?"
    r"(?:not found|not recogni[sz]ed|unavailable|disabled|inactive|closed)"
    r"|doesn't have an? \S{0,60} ?account",
    re.IGNORECASE,
)


def judge(status: str, diagnostic: str) -> Verdict:
    """What a final failure says about its recipient's address.

    A class of 4 is soft even if nobody tries any longer: the address may well be right. Filters
    (5.7.x), sizes and contents (5.6.x) refuse letters to people who are there, so they prove
    nothing; a filter that has taken a dislike to us would otherwise suspend a whole provider.

    Args:
        status: an enhanced status code (RFC 3463), ``""`` where none is given.
        diagnostic: the mail server's own words; they decide where there is no code, or only a
            code that says nothing (5.0.0), or one that is used in two ways (5.5.x).
    """
    found = _ENHANCED.fullmatch(status) or _ENHANCED.search(diagnostic)
    if found is not None and (found[2], found[3]) == ("0", "0"):  # the words may know more
        found = next((f for f in _ENHANCED.finditer(diagnostic) if f[2] != "0"), found)
    if found is None:
        return _by_words(diagnostic)
    kind, subject, code = found[1], int(found[2]), f"{int(found[2])}.{int(found[3])}"
    if kind != "5":
        return Verdict.SOFT if kind == "4" else Verdict.REFUSED
    if code in _THIS_LETTER or subject in {6, 7}:
        return Verdict.REFUSED
    if _FULL.search(diagnostic):
        return Verdict.SOFT
    if code in _NOBODY:
        return Verdict.HARD
    if subject in {0, 5}:
        return _by_words(diagnostic, usual=Verdict.HARD if subject == 0 else Verdict.REFUSED)
    return Verdict.SOFT


def status_in(words: str) -> str:
    """The first enhanced status code in a mail server's words, ``""`` if there is none."""
    found = _ENHANCED.search(words)
    return found[0] if found else ""


def of_refusal(error: str, recipient: str) -> Failure | None:
    """What a relay's refusal says about a letter's recipient, ``None`` = nothing.

    Args:
        error: as `smtp_client` words it: the command, and the relay's reply to it. Only RCPT TO is
            about the recipient; so is LMTP's reply to DATA, if its code says so (RFC 2033, 4.2).
    """
    found = _COMMAND.match(error)
    if found is None:
        return None
    diagnostic = one_line(found[2])
    status = status_in(diagnostic)
    if found[1] == "DATA" and not status.startswith(("5.1.", "5.2.", "4.2.")):
        return None
    return Failure(judge(status, diagnostic), status, diagnostic, frozenset({recipient.lower()}))


def one_line(words: str) -> str:
    """A mail server's words as one printable line; what could be a reply address is blanked."""
    plain = "".join(char if char.isprintable() else " " for char in words[: 4 * LONGEST_DIAGNOSTIC])
    return " ".join(_TOKEN.sub("***", plain).split())[:LONGEST_DIAGNOSTIC].strip()


def _by_words(diagnostic: str, usual: Verdict | None = None) -> Verdict:
    """*usual*: what it is when the words say nothing; ``None`` = the basic code decides."""
    if _FULL.search(diagnostic):
        return Verdict.SOFT
    if _POLICY.search(diagnostic):
        return Verdict.REFUSED
    if _UNKNOWN.search(diagnostic):
        return Verdict.HARD
    if usual is not None:
        return usual
    code = _BASIC.search(diagnostic)
    if code is None:
        return Verdict.SOFT  # somebody says it came back, and nobody says why
    if code[1] == "4" or code[2] == "52":  # RFC 5321 section 4.2.2: exceeded storage
        return Verdict.SOFT
    return Verdict.HARD if code[2] in {"50", "51"} else Verdict.REFUSED
