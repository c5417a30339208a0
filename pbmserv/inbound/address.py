"""The one address that a From field names, or a refusal: nothing that could be read in two ways."""

from __future__ import annotations

import re
import unicodedata

from pbmserv.errors import MailError

ADDRESS_LIMIT = 254
"""Octets of an address that SMTP can carry (RFC 5321 section 4.5.3.1.3, less the brackets)."""

_LOCAL_LIMIT = 64
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ASCII = re.compile(rf"{_ATEXT}(?:\.{_ATEXT})*@(?:{_LABEL}\.)*{_LABEL}")

_ORDINARY = re.compile(r'[^"(<,;:)>\\]+')
_QUOTED_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')
_COMMENT_MARK = re.compile(r"[()\\]")


def one_mailbox(value: str) -> str:
    """The address of the one mailbox in `value` (RFC 5322 section 3.4), as `plain_address` has it.

    Raises:
        MailError: ``several-from`` for a list or a group, ``bad-from`` for anything
            that is no mailbox, or that another reader may take for another address.
    """
    phrase, angle, after = _split(value)
    if after.strip():
        raise MailError("bad-from")
    if angle is None:
        return plain_address(phrase.strip())
    address = plain_address(angle.strip())
    # An address in the phrase is what some readers would take. Harmless if it is the same.
    if "@" in phrase and phrase.strip().lower() != address.lower():
        raise MailError("bad-from")
    return address


def plain_address(text: str) -> str:
    """`text` if it is a dot-atom and a domain, NFC, with the domain in lower case.

    Letters beyond ASCII are taken (RFC 6531); quoted local parts, address
    literals and encoded words are not.

    Raises:
        MailError: ``bad-from``.
    """
    text = text if text.isascii() else _international(text)
    local, _, domain = text.rpartition("@")
    if text.isascii() and (len(text) > ADDRESS_LIMIT or not _ASCII.fullmatch(text)):
        raise MailError("bad-from")
    if "=?" in local or domain.rpartition(".")[2].isdigit():
        raise MailError("bad-from")
    if len(local.encode()) > _LOCAL_LIMIT:
        raise MailError("bad-from")
    return f"{local}@{domain.lower()}"


def _international(text: str) -> str:
    """An address with letters beyond ASCII, in NFC, checked as far as ASCII rules go."""
    if len(text) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    text = unicodedata.normalize("NFC", text)
    # Every letter beyond ASCII stands for itself; the rest must be an ASCII address.
    if any("\ud800" <= char <= "\udfff" or not char.isprintable() for char in text):
        raise MailError("bad-from")
    skeleton = "".join(char if char.isascii() else "x" if _lettery(char) else " " for char in text)
    if not _ASCII.fullmatch(skeleton) or len(text.encode()) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    return text


def _lettery(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def _split(value: str) -> tuple[str, str | None, str]:
    """What stands before, inside and after the angle brackets; comments are dropped."""
    before: list[str] = []
    after: list[str] = []
    angle: str | None = None
    at = 0
    while at < len(value):
        part = before if angle is None else after
        char = value[at]
        if char == '"':
            end = _end(_QUOTED_END.match(value, at + 1))
            part.append('"')  # never looked into: it is a name
        elif char == "(":
            end = _comment_end(value, at)
        elif char == "<":
            end = value.find(">", at) + 1
            if angle is not None or not end:
                raise MailError("bad-from")
            angle = value[at + 1 : end - 1]
        elif char in ",;:":
            raise MailError("several-from")
        else:
            end = _end(_ORDINARY.match(value, at))
            part.append(value[at:end])
        at = end
    return "".join(before), angle, "".join(after)


def _end(match: re.Match[str] | None) -> int:
    if match is None:
        raise MailError("bad-from")
    return match.end()


def _comment_end(value: str, at: int) -> int:
    """Where the comment ends that opens at `at` (comments nest)."""
    depth = 0
    while at < len(value):
        mark = _COMMENT_MARK.search(value, at)
        if mark is None:
            break
        at = mark.end() + (mark[0] == "\\")
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return at
    raise MailError("bad-from")
