"""Reads the links of a letter as a mail program does that is asked to follow them (RFC 6068)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import parse_qsl, unquote, urlsplit

LINK = re.compile(
    r'<a\s+href="(?P<href>mailto:[^"]*)"(?:\s+aria-label="(?P<label>[^"]*)")?>(?P<text>[^<]*)</a>'
)
SPOT = re.compile(r"[A-Z]{0,2}[0-9]{0,2}|[?·◆]")
"""The sign on a spot of a board."""
ANY = re.compile(r'<a\s[^>]*?href="(?P<href>mailto:[^"]*)"')


@dataclass(frozen=True)
class Drafted:
    """The mail that a link begins."""

    to: str
    subject: str
    body: str


def drafted(href: str) -> Drafted:
    """The mail that the link *href* (as it stands in the HTML) begins."""
    parts = urlsplit(unescape(href))
    assert parts.scheme == "mailto"
    # RFC 6068, 5: "+" is a plus here, not a blank.
    fields = dict(parse_qsl(parts.query.replace("+", "%2B"), strict_parsing=True))
    assert set(fields) <= {"subject", "body"}
    return Drafted(unquote(parts.path), fields.get("subject", ""), fields.get("body", ""))


def links_of(html: str) -> dict[str, Drafted]:
    """Return the links of boards by their names for a screen reader."""
    return {
        unescape(link["label"] or link["text"]): drafted(link["href"])
        for link in LINK.finditer(html)
        if SPOT.fullmatch(unescape(link["text"]))
    }


def drafts_of(html: str) -> list[Drafted]:
    """All replies that a letter has links for."""
    every = [drafted(match["href"]) for match in ANY.finditer(html)]
    return [draft for draft in every if draft.body]
