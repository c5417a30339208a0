"""Finds the text that a person wrote among the parts of a MIME body.

A usual mail has its text twice, and perhaps files:

    multipart/mixed
        multipart/alternative
            text/plain              read
            text/html               a twin of it
        image/jpeg                  left out

The first part with text is read, and among alternatives the first one with plain text, or else the
first one of another kind. A text with a file name is a file; but telephones name each part, so that
such a text is read if nothing else is found.

Encrypted parts cannot be read. Clear-signed mails are read like any other; their signatures are not
verified, because passwords and reply addresses prove the player.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.errors import MailError
from pbmserv.inbound.flowed import unflow
from pbmserv.inbound.headers import (
    ContentType,
    Headers,
    content_type,
    disposition_of,
    first,
    read_headers,
)
from pbmserv.inbound.html import HTML_LIMIT, read_html
from pbmserv.inbound.parts import octets_of, split_parts
from pbmserv.inbound.quotes.line_signs import BLANKS
from pbmserv.inbound.text import decode

PARTS_LIMIT = 100
"""Parts of a mail."""
DEPTH_LIMIT = 20
"""Levels of parts in parts."""
TEXT_LIMIT = 256 * 1024
"""Characters of text that are kept: far more than the commands and words of a mail."""

ENCRYPTED = "encrypted"
"""The mail is encrypted, and this server has no key."""
OPAQUE = "opaque"
"""The mail is an S/MIME object, signed or encrypted as a whole; it has no text part."""

_SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
"""Types of parts that are a PKCS #7 object (RFC 8551 section 3.2)."""
_PGP_ENCRYPTED = frozenset(("multipart/encrypted", "application/pgp-encrypted"))
"""Types of parts of PGP/MIME (RFC 3156 section 4). Some servers rewrite the first type to
``multipart/mixed``; the second one, that of its first part, stays."""

_SIGNATURES = frozenset(
    ("application/pgp-signature", "application/pgp-keys",
     "application/pkcs7-signature", "application/x-pkcs7-signature")
)  # fmt: skip
"""Parts that programs add, without words of a person."""

_WORDLESS = frozenset(
    ("text/calendar", "text/vcard", "text/x-vcard", "text/directory", "text/css", "text/javascript",
     "text/ecmascript", "text/xml", "text/xml-external-parsed-entity", "text/sgml", "text/dtd",
     "text/rtf", "text/enriched", "text/richtext", "text/rfc822-headers", "text/vtt",
     "text/x-moz-deleted")
)  # fmt: skip
"""Text types that hold no words to a reader, or words that only a program can extract."""

_REACTION = "text/vnd.google.email-reaction+json"
"""A part of Gmail's reactions, which no person writes."""

_NAME_BY_TELEPHONE = re.compile(r"(?:text|mms|sms)?[-_ ]?[0-9]{0,8}\.txt")
"""A file name that telephones give to the text of a mail: "text_0.txt", "mms.txt"."""

_PICTURE = re.compile(rb"<(?:img|image|picture|video|audio|object|embed|svg)\b", re.IGNORECASE)
"""A picture in HTML, which the plain text beside it lacks."""

_ARMOUR = "-----BEGIN PGP MESSAGE-----"


@dataclass(frozen=True, slots=True)
class Body:
    """The text of a mail.

    Attributes:
        text: the words of a person, including quotes; ``""`` for none.
        unread: the reason why no text was read: `ENCRYPTED` or `OPAQUE`,
            ``"html"`` for markup beyond the limits, ``"no-text"`` for a mail of files alone; ``""``
            for none, also if the mail is empty.
        left_out: the mail holds more than this text and signatures: other parts, pictures, or text
            beyond `TEXT_LIMIT`.
        reaction: a program wrote the mail when somebody clicked on a face below a letter.
    """

    text: str = ""
    unread: str = ""
    left_out: bool = False
    reaction: bool = False


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a part that has no parts.

    Attributes:
        text: the text to read, or its HTML.
        html: the text is HTML, which is not rendered yet.
        marked_up: the part has a text type such as text/markdown, so that a text/plain alternative
            is preferred.
        unread: see `Body`.
    """

    text: str = ""
    html: bool = False
    marked_up: bool = False
    unread: str = ""


_BLANK = _Content()


def read_body(headers: Headers, body: bytes) -> Body:
    """Return the text of a mail: its plain text, else its HTML rendered as text.

    Attached files and messages are not read.

    Raises:
        MailError: ``too-many-parts``, ``too-deep``, or ``headers-too-long`` or
            ``bad-header`` in a part.
    """
    walk = _Walk()
    content = walk.find(headers, body, depth=1)
    if walk.reaction:
        return Body(left_out=True, reaction=True)
    if (content is None or content is _BLANK) and walk.named_text is not None:
        content = walk.named_text
    if content is None:
        return Body(unread="no-text" if body.strip() else "")
    if content.unread:
        return Body(unread=content.unread)
    if not content.html:
        return Body(content.text, left_out=walk.left_out)
    html = read_html(content.text)
    if html is None:
        return Body(unread="html")
    if _is_encrypted(html.text):
        return Body(unread=ENCRYPTED)
    return Body(_cut(html.text), left_out=walk.left_out or html.left_out)


def _is_encrypted(text: str) -> bool:
    """Return whether a text is a message encrypted by PGP (RFC 9580 section 6.2)."""
    return text.lstrip(BLANKS).startswith(_ARMOUR)


@dataclass(slots=True)
class _Walk:
    """A pass over the parts of a mail, which counts them.

    Attributes:
        left_out, reaction: see `Body`.
        named_text: a text with a file name that mail programs show in the mail, as they show the
            text of a telephone.
    """

    left_out: bool = False
    reaction: bool = False
    named_text: _Content | None = None
    _parts: int = 0

    def find(
        self, headers: Headers, body: bytes, *, depth: int, default: str = "text/plain"
    ) -> _Content | None:
        """Return the text of this part or of one of its parts; `None` if there is none."""
        kind = content_type(first(headers, "content-type") or default)
        if kind.kind in _PGP_ENCRYPTED:
            return _Content(unread=ENCRYPTED)
        if kind.kind.startswith("multipart/"):
            return self._in_multipart(kind, body, depth)
        if kind.kind in _SMIME:
            is_encrypted = "enveloped" in kind.param("smime-type")
            return _Content(unread=ENCRYPTED if is_encrypted else OPAQUE)
        if kind.kind == _REACTION:
            self.reaction = True
            return None
        return self._leaf(kind, headers, body)

    def _leaf(self, kind: ContentType, headers: Headers, body: bytes) -> _Content | None:
        """Return the text of a part that has no parts; `None` for a file."""
        is_plain = _is_plain(kind.kind)
        if _has_file_name(kind, headers) or not (is_plain or kind.kind == "text/html"):
            self.left_out |= kind.kind not in _SIGNATURES
            if is_plain and self.named_text is None and _is_shown(headers):
                self.named_text = self._text(kind, octets_of(headers, body))
            return None
        octets = octets_of(headers, body)
        return self._text(kind, octets) if is_plain else self._html(kind, octets)

    def _html(self, kind: ContentType, octets: bytes) -> _Content:
        """Return HTML, which is rendered only if it is chosen."""
        self.left_out = self.left_out or len(octets) > HTML_LIMIT
        return _Content(decode(octets[:HTML_LIMIT], kind.param("charset")), html=True)

    def _text(self, kind: ContentType, octets: bytes) -> _Content:
        """Return a text as a mail program shows it."""
        text = decode(octets, kind.param("charset"))
        if len(text) > TEXT_LIMIT:
            self.left_out = True
            text = _cut(text)
        if _is_encrypted(text):
            return _Content(unread=ENCRYPTED)
        if kind.param("format") == "flowed":
            text = unflow(text, delsp=kind.param("delsp") == "yes")
        if not text.strip():
            return _BLANK
        return _Content(text, marked_up=kind.kind != "text/plain")

    def _in_multipart(self, kind: ContentType, body: bytes, depth: int) -> _Content | None:
        """Return the text of the part that mail programs show; `None` if there is none."""
        if depth > DEPTH_LIMIT:
            raise MailError("too-deep")
        alternatives = kind.kind == "multipart/alternative"
        default = "message/rfc822" if kind.kind == "multipart/digest" else "text/plain"
        other: _Content | None = None  # a blank text or an alternative, if no better part follows
        parts = self._split(body, kind.params.get("boundary", ""))
        for block, inner in parts:
            content = self.find(read_headers(block), inner, depth=depth + 1, default=default)
            if content is None or content is _BLANK:
                other = other or content
            elif not (alternatives and (content.html or content.marked_up)):
                is_first = other is None or other is _BLANK
                self.left_out |= not is_first or self._says_more(parts, alternatives=alternatives)
                return content
            elif other is None or other is _BLANK:
                other = content
            elif content.html and other.html:
                self.left_out = True  # two HTML alternatives
        return other

    def _says_more(self, rest: Iterator[tuple[bytes, bytes]], *, alternatives: bool) -> bool:
        """Return whether later parts may hold words or pictures that the chosen part lacks."""
        more = False
        try:
            for block, inner in rest:
                headers = read_headers(block)
                kind = content_type(first(headers, "content-type"))
                self.reaction |= kind.kind == _REACTION
                if kind.kind not in _SIGNATURES and not more:
                    octets = octets_of(headers, inner)
                    is_same = alternatives and (kind.kind == "text/html" or _is_plain(kind.kind))
                    more = not is_same or _PICTURE.search(octets) is not None
        except MailError:
            return True
        return more

    def _split(self, body: bytes, boundary: str) -> Iterator[tuple[bytes, bytes]]:
        for part in split_parts(body, boundary):
            self._parts += 1
            if self._parts > PARTS_LIMIT:
                raise MailError("too-many-parts")
            yield part


def _has_file_name(kind: ContentType, headers: Headers) -> bool:
    """Return whether a part has a file name, or is attached without one."""
    disposition = first(headers, "content-disposition")
    return bool(
        kind.param("name")
        or disposition.lower().startswith("attachment")
        or (disposition and content_type(disposition).param("filename"))
    )


def _is_plain(kind: str) -> bool:
    """Return whether a type is read as plain text, as unknown text types are (RFC 2046, 4.1.4)."""
    is_text = kind.startswith("text/") and kind not in _WORDLESS and kind != _REACTION
    return is_text and "html" not in kind


def _is_shown(headers: Headers) -> bool:
    """Return whether mail programs show a text with a file name; some telephones name each part."""
    name = disposition_of(headers).param("filename")
    return first(headers, "content-disposition").lower().startswith("inline") and (
        not name or _NAME_BY_TELEPHONE.fullmatch(name) is not None
    )


def _cut(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    end = text.rfind("\n", 0, TEXT_LIMIT)
    return text[: end if end >= 0 else TEXT_LIMIT]
