"""Reads the one address in a From field, and refuses an address that could be read in two ways."""

from __future__ import annotations

import re
import unicodedata

from pbmserv.errors import MailError
from pbmserv.inbound.headers import comment_end

ADDRESS_LIMIT = 254
"""Octets of an address that SMTP can carry (RFC 5321 section 4.5.3.1.3, less the brackets)."""

_LOCAL_LIMIT = 64
_ATEXT = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ASCII = re.compile(rf"\.*[{_ATEXT}][{_ATEXT}.]*@(?:{_LABEL}\.)*{_LABEL}")
"""Dots are allowed anywhere in the local part, as some providers have ``a..b`` and ``a.``."""
_NEEDLESS_QUOTES = re.compile(r'"([^"\\\s@<>(),:;]+)"(?=@)')
"""A quoted local part that has the same meaning without quotes (RFC 5321 section 4.1.2)."""

_USUAL = re.compile(
    r"""(?P<open>(?:[^"(<,;:)>\\@]|"[^"\\]*")*<)?(?P<address>[^\s"(<,;:)>\\]+)(?(open)>)\s*"""
)
"""``Name <address>``, ``"Na, me" <address>`` or an address alone."""
_ORDINARY = re.compile(r'[^"(<,;:)>\\]+')
_QUOTED_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')


def one_mailbox(value: str) -> str:
    """Return the address of the one mailbox in `value` (RFC 5322 section 3.4).

    The domain is returned in lower case, and the address in NFC. The local part has atoms and dots,
    in any order and with or without quotes. Letters beyond ASCII are accepted (RFC 6531); other
    quoted local parts, address literals and encoded words are not.

    Raises:
        MailError: ``several-from`` for a list or a group, ``bad-from`` for text that is not a
            mailbox, or that another reader may read as another address.
    """
    usual = _USUAL.fullmatch(value)
    phrase, text = ("", usual["address"]) if usual is not None else _split(value)
    if text.startswith('"'):
        text = _NEEDLESS_QUOTES.sub(r"\1", text, count=1)
    text = text if text.isascii() else _international(text)
    local, _, domain = text.rpartition("@")
    if text.isascii() and (len(text) > ADDRESS_LIMIT or not _ASCII.fullmatch(text)):
        raise MailError("bad-from")
    if "=?" in local or domain.rpartition(".")[2].isdigit():
        raise MailError("bad-from")
    if len(local.encode()) > _LOCAL_LIMIT:
        raise MailError("bad-from")
    address = f"{local}@{domain.lower()}"
    # Some readers would use an address in the phrase. If it is the same one, that does no harm.
    if "@" in phrase and phrase.lower() != address.lower():
        raise MailError("bad-from")
    return address


def _international(text: str) -> str:
    """Return an address with letters beyond ASCII in NFC; its ASCII part is checked."""
    if len(text) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    text = unicodedata.normalize("NFC", text)
    # With "x" for each letter beyond ASCII, it must be an ASCII address.
    if any("\ud800" <= char <= "\udfff" or not char.isprintable() for char in text):
        raise MailError("bad-from")
    skeleton = "".join(
        char if char.isascii() else "x" if _is_letter(char) else " " for char in text
    )
    if not _ASCII.fullmatch(skeleton) or len(text.encode()) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    return text


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def _split(value: str) -> tuple[str, str]:
    """Return the texts before and in the angle brackets, without comments.

    Without brackets the first text is empty and the second one is the whole text.
    """
    before: list[str] = []
    after: list[str] = []
    angle: str | None = None
    at = 0
    while at < len(value):
        part = before if angle is None else after
        char = value[at]
        if char == '"':
            end = _end(_QUOTED_END.match(value, at + 1))
            is_local = angle is None and value.startswith("@", end)
            part.append(value[at:end] if is_local else '"')  # the words of a name do not matter
        elif char == "(":
            end = comment_end(value, at)
            if end < 0:
                raise MailError("bad-from")
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
    if "".join(after).strip():
        raise MailError("bad-from")
    phrase = "".join(before).strip()
    return ("", phrase) if angle is None else (phrase, angle.strip())


def _end(match: re.Match[str] | None) -> int:
    if match is None:
        raise MailError("bad-from")
    return match.end()
