"""Finds the text that a person wrote among the parts of a MIME body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.errors import MailError
from pbmserv.inbound.encrypted import (
    ENCRYPTED,
    OPAQUE,
    PGP_ENCRYPTED,
    SMIME,
)
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
DEPTH_LIMIT = 20
TEXT_LIMIT = 256 * 1024
"""Characters of text that are kept: far more than the commands and words of a mail."""

_SIGNATURES = frozenset(
    ("application/pgp-signature", "application/pgp-keys",
     "application/pkcs7-signature", "application/x-pkcs7-signature")
)  # fmt: skip
"""Parts that programs add, without words of a person."""

_WORDLESS = frozenset(
    ("text/calendar", "text/vcard", "text/x-vcard", "text/directory", "text/css", "text/javascript",
     "text/ecmascript", "text/xml", "text/xml-external-parsed-entity", "text/sgml", "text/dtd",
     "text/rtf", "text/rfc822-headers", "text/vtt", "text/x-moz-deleted")
)  # fmt: skip
"""Text types that hold no words to a reader, or words that only a program can extract."""

_ENRICHED = frozenset(("text/enriched", "text/richtext"))
"""Text types with marks for bold letters and the like (RFC 1896, RFC 1341)."""
_ENRICHED_MARK = re.compile(r"<<|</?[a-z0-9-]{1,60}>|\n+", re.IGNORECASE)
_HIDDEN_ENRICHED = re.compile(r"<(param|comment)>[^<]{0,500}</\1>", re.IGNORECASE)

_REACTION = "text/vnd.google.email-reaction+json"
"""A part of Gmail's reactions, which no person writes."""

_SHOWN = re.compile(r"(?:text|mms|sms)?[-_ ]?[0-9]{0,8}\.txt")

_PICTURE = re.compile(rb"<(?:img|image|picture|video|audio|object|embed|svg)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """The text of a mail.

    Attributes:
        text: the words of a person, including quotes; ``""`` for none.
        unread: the reason why no text was read: ``"encrypted"`` or ``"opaque"`` (see `encrypted`),
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
    """The content of a part without parts.

    Attributes:
        text: the text to read, or its HTML.
        html: the text is HTML, which is not rendered yet.
        marked_up: the part has another text type, so a text/plain alternative is preferred.
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
    if (content is None or content is _BLANK) and walk.shown is not None:
        content = walk.shown
    if content is None:
        return Body(unread="no-text" if body.strip() else "")
    if content.unread:
        return Body(unread=content.unread)
    if not content.html:
        return Body(content.text, left_out=walk.left_out)
    html = read_html(content.text)
    if html is None:
        return Body(unread="html")
    if _has_armour(html.text):
        return Body(unread=ENCRYPTED)
    return Body(_cut(html.text), left_out=walk.left_out or html.left_out)


_ARMOUR = "-----BEGIN PGP MESSAGE-----"


def _has_armour(text: str) -> bool:
    """Return whether a text is an encrypted message (RFC 9580 section 6.2)."""
    return text.lstrip(BLANKS).startswith(_ARMOUR)


@dataclass(slots=True)
class _Walk:
    """A pass over the parts of a mail, which counts them.

    Attributes:
        left_out, reaction: see `Body`.
        shown: a text with a file name that mail programs show in the mail.
    """

    left_out: bool = False
    reaction: bool = False
    shown: _Content | None = None
    _parts: int = 0

    def find(
        self, headers: Headers, body: bytes, *, depth: int, default: str = "text/plain"
    ) -> _Content | None:
        """Return the text of this part or of one of its parts; `None` if there is none."""
        kind = content_type(first(headers, "content-type") or default)
        if kind.kind in PGP_ENCRYPTED:
            return _Content(unread=ENCRYPTED)
        if kind.kind.startswith("multipart/"):
            return self._in_multipart(kind, body, depth)
        if kind.kind in SMIME:
            is_encrypted = "enveloped" in kind.param("smime-type")
            return _Content(unread=ENCRYPTED if is_encrypted else OPAQUE)
        if kind.kind == _REACTION:
            self.reaction = True
            return None
        return self._leaf(kind, headers, body)

    def _leaf(self, kind: ContentType, headers: Headers, body: bytes) -> _Content | None:
        """Return the text of a part without parts; `None` for a file.

        A part with a file name is a file. If mail programs show it all the same, it is `shown`.
        """
        is_file, is_words = _is_file(kind, headers), _is_words(kind.kind)
        if is_file or not (is_words or kind.kind == "text/html"):
            self.left_out = self.left_out or kind.kind not in _SIGNATURES
            if not is_words or self.shown is not None or not _is_shown(headers):
                return None
        octets = octets_of(headers, body)
        if not is_words:
            return self._html(kind, octets)
        text = self._text(kind, octets)
        if is_file:
            self.shown = text
            return None
        return text

    def _html(self, kind: ContentType, octets: bytes) -> _Content:
        """Return HTML, which is rendered only if it is chosen."""
        self.left_out = self.left_out or len(octets) > HTML_LIMIT
        return _Content(decode(octets[:HTML_LIMIT], kind.param("charset")), html=True)

    def _text(self, kind: ContentType, octets: bytes) -> _Content:
        """Return a text as a mail program shows it."""
        text = decode(octets, kind.param("charset"))
        if kind.kind in _ENRICHED:
            text = plain_of_enriched(
                _HIDDEN_ENRICHED.sub("", text[:TEXT_LIMIT]), rich=kind.kind == "text/richtext"
            )
        if len(text) > TEXT_LIMIT:
            self.left_out = True
            text = _cut(text)
        if _ARMOUR in text and _has_armour(text):
            return _Content(unread=ENCRYPTED)
        if kind.param("format") == "flowed":
            text = unflow(text, delsp=kind.param("delsp") == "yes")
        if not text.strip():
            return _BLANK
        return _Content(text, marked_up=kind.kind != "text/plain")

    def _in_multipart(self, kind: ContentType, body: bytes, depth: int) -> _Content | None:
        if depth > DEPTH_LIMIT:
            raise MailError("too-deep")
        choose = kind.kind == "multipart/alternative"
        default = "message/rfc822" if kind.kind == "multipart/digest" else "text/plain"
        other: _Content | None = None  # used if no better part follows
        parts = self._split(body, kind.params.get("boundary", ""))
        for block, inner in parts:
            content = self.find(read_headers(block), inner, depth=depth + 1, default=default)
            if content is None or content is _BLANK:
                other = other or content
            elif not (choose and (content.html or content.marked_up)):
                is_first = other is None or other is _BLANK
                self.left_out |= not is_first or self._says_more(parts, alternatives=choose)
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
                    is_same = alternatives and (kind.kind == "text/html" or _is_words(kind.kind))
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


def _is_file(kind: ContentType, headers: Headers) -> bool:
    """Return whether a part is attached, or has a file name."""
    disposition = first(headers, "content-disposition")
    return bool(
        kind.param("name")
        or disposition.lower().startswith("attachment")
        or (disposition and content_type(disposition).param("filename"))
    )


def _is_words(kind: str) -> bool:
    """Return whether a type is read as plain text, as unknown text types are (RFC 2046, 4.1.4)."""
    is_text = kind.startswith("text/") and kind not in _WORDLESS and kind != _REACTION
    return is_text and "html" not in kind


def plain_of_enriched(text: str, *, rich: bool) -> str:
    """Return the plain text of text/enriched (RFC 1896), or of text/richtext before it.

    One line end means a blank there, and two mean a line end; in richtext ``<nl>`` means a line
    end. An excerpt is a quote and becomes a ``>`` line.
    """
    pieces: list[str] = []
    depth = end = 0  # number of open excerpts, end of the last mark
    for mark in _ENRICHED_MARK.finditer(text):
        if not depth:
            pieces.append(text[end : mark.start()])
        end = mark.end()
        name = mark[0].lower()
        if name == "<excerpt>":
            pieces.append("" if depth else "\n>\n")
            depth += 1
        elif name == "</excerpt>":
            depth = max(0, depth - 1)
        elif not depth:
            pieces.append(_text_of_mark(name, rich=rich))
    return "".join(pieces) + ("" if depth else text[end:])


def _text_of_mark(name: str, *, rich: bool) -> str:
    if name[0] == "\n":
        return " " if rich or len(name) == 1 else name[1:]
    if name == "<<" and not rich:
        return "<"
    return {"<nl>": "\n", "<lt>": "<", "<paragraph>": "\n"}.get(name, "") if rich else ""


def _is_shown(headers: Headers) -> bool:
    """Return whether mail programs show a text with a file name; some telephones name each part."""
    name = disposition_of(headers).param("filename")
    return first(headers, "content-disposition").lower().startswith("inline") and (
        not name or _SHOWN.fullmatch(name) is not None
    )


def _cut(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    end = text.rfind("\n", 0, TEXT_LIMIT)
    return text[: end if end >= 0 else TEXT_LIMIT]


def unflow(text: str, *, delsp: bool) -> str:
    """Join the flowed lines of format=flowed text (RFC 3676 section 4); quotes stay quoted.

    Args:
        delsp: the blank that marks a flowed line does not belong to the text.
    """
    lines = f"\n{text}\n"
    if " \n" not in lines and "\n " not in lines and lines.count("\n>") == lines.count("\n> "):
        return text  # no line is flowed or stuffed
    paragraphs: list[tuple[str, int]] = []
    pieces: list[str] = []
    depth = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        quoted = len(line) - len(content)
        content = content.removeprefix(" ")  # section 4.4: space-stuffing
        signature = content == "-- "  # section 4.3: never flowed
        if pieces and (quoted != depth or signature):
            paragraphs.append(("".join(pieces), depth))
            pieces = []
        depth = quoted
        flows = content.endswith(" ") and not signature
        pieces.append(content[:-1] if flows and delsp else content)
        if not flows:
            paragraphs.append(("".join(pieces), depth))
            pieces = []
    if pieces:
        paragraphs.append(("".join(pieces), depth))
    return "\n".join([f"{'>' * marks} {words}" if marks else words for words, marks in paragraphs])
