"""The text that a person wrote, out of the parts of a MIME body, and that of an attached file.

A walker of our own, because the standard library's builds every part before
anyone can count them: a mail of 1 MiB can make it hold 200,000 parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.errors import MailError
from pbmserv.inbound.headers import (
    ContentType,
    Headers,
    content_type,
    disposition_of,
    first,
    octets_of,
    read_headers,
    split_block,
    split_parts,
)
from pbmserv.inbound.quotes.line_signs import BLANKS
from pbmserv.inbound.smime import (
    ENCRYPTED,
    OPAQUE,
    PGP_ENCRYPTED,
    SMIME,
)
from pbmserv.inbound.text import HTML_LIMIT, decode, read_html

PARTS_LIMIT = 100
DEPTH_LIMIT = 20
TEXT_LIMIT = 256 * 1024
"""Characters of text that are kept: far more than the commands and words of any mail."""

_SIGNATURES = frozenset(
    ("application/pgp-signature", "application/pgp-keys",
     "application/pkcs7-signature", "application/x-pkcs7-signature")
)  # fmt: skip
"""Parts that machines add and in which nobody says anything."""

_WORDLESS = frozenset(
    ("text/calendar", "text/vcard", "text/x-vcard", "text/directory", "text/css", "text/javascript",
     "text/ecmascript", "text/xml", "text/xml-external-parsed-entity", "text/sgml", "text/dtd",
     "text/rtf", "text/rfc822-headers", "text/vtt", "text/x-moz-deleted")
)  # fmt: skip
"""Text types in which nobody writes to anybody, or whose words only a program finds."""

_ENRICHED = frozenset(("text/enriched", "text/richtext"))
"""Text types with marks of their own (RFC 1896, RFC 1341)."""
_ENRICHED_MARK = re.compile(r"<<|</?[a-z0-9-]{1,60}>|\n+", re.IGNORECASE)
_HIDDEN_ENRICHED = re.compile(r"<(param|comment)>[^<]{0,500}</\1>", re.IGNORECASE)

_REACTION = "text/vnd.google.email-reaction+json"
"""What Gmail sends below a face and a sentence, which a person did not write."""

_SHOWN = re.compile(r"(?:text|mms|sms)?[-_ ]?[0-9]{0,8}\.txt")

_PICTURE = re.compile(rb"<(?:img|image|picture|video|audio|object|embed|svg)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """The text of a mail.

    Attributes:
        text: what a person wrote, with what it quotes; ``""`` if there is none.
        unread: why there could be more that was not read: ``"encrypted"`` or ``"opaque"``
            (`pbmserv.inbound.smime`), ``"html"`` for markup too big or deep, ``"no-text"``
            for a mail of files alone; ``""`` when all is well, also for an empty mail.
        left_out: there was more in the mail than this text and signatures of machines: other
            parts, pictures, or text beyond `TEXT_LIMIT`.
        reaction: a program wrote it for somebody who pressed on a face below a mail.
    """

    text: str = ""
    unread: str = ""
    left_out: bool = False
    reaction: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """The content of a leaf: text as it shall be read, still HTML, or why it is neither.

    Attributes:
        marked_up: a text type other than text/plain and text/html; a text/plain alternative is
            better.
    """

    text: str = ""
    html: bool = False
    marked_up: bool = False
    unread: str = ""


_BLANK = _Found()


def read_body(headers: Headers, body: bytes) -> Body:
    """What stands in a mail with these headers: plain text, else HTML made plain.

    Attached files and messages are not looked into.

    Raises:
        MailError: ``too-many-parts``, ``too-deep``, or ``headers-too-long`` or
            ``bad-header`` in a part.
    """
    walk = _Walk()
    found = walk.find(headers, body, depth=1)
    if walk.reaction:
        return Body(left_out=True, reaction=True)
    if (found is None or found is _BLANK) and walk.shown is not None:
        found = walk.shown
    if found is None:
        return Body(unread="no-text" if body.strip() else "")
    if found.unread:
        return Body(unread=found.unread)
    if not found.html:
        return Body(found.text, left_out=walk.left_out)
    html = read_html(found.text)
    if html is None:
        return Body(unread="html")
    if _has_armour(html.text):
        return Body(unread=ENCRYPTED)
    return Body(_cut(html.text), left_out=walk.left_out or html.left_out)


_ARMOUR = "-----BEGIN PGP MESSAGE-----"


def _has_armour(text: str) -> bool:
    """Whether the text of a mail is one encrypted message (RFC 9580 section 6.2)."""
    return text.lstrip(BLANKS).startswith(_ARMOUR)


@dataclass(slots=True)
class _Walk:
    """One pass over the parts of one mail, counting them.

    Attributes:
        left_out, reaction: see `Body`.
        shown: text that has a name, but is shown.
    """

    left_out: bool = False
    reaction: bool = False
    shown: _Found | None = None
    _parts: int = 0

    def find(
        self, headers: Headers, body: bytes, *, depth: int, default: str = "text/plain"
    ) -> _Found | None:
        """What this part has to say, ``None`` if nothing."""
        kind = content_type(first(headers, "content-type") or default)
        if kind.kind in PGP_ENCRYPTED:
            return _Found(unread=ENCRYPTED)
        if kind.kind.startswith("multipart/"):
            return self._in_multipart(kind, body, depth)
        if kind.kind in SMIME:
            is_encrypted = "enveloped" in kind.param("smime-type")
            return _Found(unread=ENCRYPTED if is_encrypted else OPAQUE)
        if kind.kind == _REACTION:
            self.reaction = True
            return None
        return self._leaf(kind, headers, body)

    def _leaf(self, kind: ContentType, headers: Headers, body: bytes) -> _Found | None:
        """The text of a part without parts, unless it is attached rather than shown; whatever has
        a name of its own is."""
        disposition = first(headers, "content-disposition")
        is_file = bool(
            kind.param("name")
            or disposition.lower().startswith("attachment")
            or (disposition and content_type(disposition).param("filename"))
        )
        if is_file or not (_is_words(kind.kind) or kind.kind == "text/html"):
            self.left_out = self.left_out or kind.kind not in _SIGNATURES
            if not _is_words(kind.kind) or self.shown is not None or not _is_shown(headers):
                return None
        octets = octets_of(headers, body)
        if kind.kind == "text/html":
            self.left_out = self.left_out or len(octets) > HTML_LIMIT
            return _Found(decode(octets[:HTML_LIMIT], kind.param("charset")), html=True)
        text = decode(octets, kind.param("charset"))
        if kind.kind in _ENRICHED:
            text = plain_of_enriched(
                _HIDDEN_ENRICHED.sub("", text[:TEXT_LIMIT]), rich=kind.kind == "text/richtext"
            )
        if len(text) > TEXT_LIMIT:
            self.left_out = True
            text = _cut(text)
        if _ARMOUR in text and _has_armour(text):
            found = _Found(unread=ENCRYPTED)
        else:
            if kind.param("format") == "flowed":
                text = unflow(text, delsp=kind.param("delsp") == "yes")
            marked_up = kind.kind != "text/plain"
            found = _Found(text, marked_up=marked_up) if text.strip() else _BLANK
        if is_file:
            self.shown = found
            return None
        return found

    def _in_multipart(self, kind: ContentType, body: bytes, depth: int) -> _Found | None:
        if depth > DEPTH_LIMIT:
            raise MailError("too-deep")
        choose = kind.kind == "multipart/alternative"
        default = "message/rfc822" if kind.kind == "multipart/digest" else "text/plain"
        other: _Found | None = None
        parts = self._split(body, kind.params.get("boundary", ""))
        for block, inner in parts:
            found = self.find(read_headers(block), inner, depth=depth + 1, default=default)
            if found is None or found is _BLANK:
                other = other or found
            elif not (choose and (found.html or found.marked_up)):
                once = other is None or other is _BLANK
                self.left_out |= not once or self._says_more(parts, alternatives=choose)
                return found
            elif other is None or other is _BLANK:
                other = found
            elif found.html and other.html:
                self.left_out = True  # two forms of one text in HTML
        return other

    def _says_more(self, rest: Iterator[tuple[bytes, bytes]], *, alternatives: bool) -> bool:
        """Whether the parts behind the one that was read may hold something that is not in it."""
        more = False
        try:
            for block, inner in rest:
                headers = read_headers(block)
                kind = content_type(first(headers, "content-type"))
                self.reaction |= kind.kind == _REACTION
                if kind.kind not in _SIGNATURES and not more:
                    octets = octets_of(headers, inner)
                    same = alternatives and (kind.kind == "text/html" or _is_words(kind.kind))
                    more = not same or _PICTURE.search(octets) is not None
        except MailError:
            return True
        return more

    def _split(self, body: bytes, boundary: str) -> Iterator[tuple[bytes, bytes]]:
        for part in split_parts(body, boundary):
            self._parts += 1
            if self._parts > PARTS_LIMIT:
                raise MailError("too-many-parts")
            yield part


def _is_words(kind: str) -> bool:
    """Whether a type is read as plain text: unknown text types are (RFC 2046 section 4.1.4)."""
    is_text = kind.startswith("text/") and kind not in _WORDLESS and kind != _REACTION
    return is_text and "html" not in kind


def plain_of_enriched(text: str, *, rich: bool) -> str:
    """Return the words of text/enriched (RFC 1896), or of its ancestor text/richtext.

    A line end is a blank there, and two are one line end; in richtext ``<nl>`` is a line end. An
    excerpt is a quote, and shrinks to a ``>`` line.
    """
    pieces: list[str] = []
    depth = end = 0  # of excerpts that are open, and of the last mark
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
            pieces.append(_shown_of_mark(name, rich=rich))
    return "".join(pieces) + ("" if depth else text[end:])


def _shown_of_mark(name: str, *, rich: bool) -> str:
    if name[0] == "\n":
        return " " if rich or len(name) == 1 else name[1:]
    if name == "<<" and not rich:
        return "<"
    return {"<nl>": "\n", "<lt>": "<", "<paragraph>": "\n"}.get(name, "") if rich else ""


def _is_shown(headers: Headers) -> bool:
    """Whether a named text is shown in the mail: a telephone's, which gives all its parts names."""
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

    `delsp` is whether the blank that marks a flowed line is no part of the text.
    """
    lines = f"\n{text}\n"
    if " \n" not in lines and "\n " not in lines and lines.count("\n>") == lines.count("\n> "):
        return text  # no line flows or is stuffed, and quotes stand as they do below
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


# -- an attached text, for the few commands that ask for one -----------------------------------


LONGEST_FILE = 200_000
"""Octets of a file that are looked at."""


def attached_text(raw: bytes, mark: str) -> str:
    """The first attached text in which a line begins with *mark*, "" if there is none.

    A command asks for it while the database waits, and reading the mail stopped at its first text.
    So the walk has the same limits as `read_body`; beyond them there is no file.
    """
    try:
        block, body = split_block(raw)
        for headers, inner in _leaves(read_headers(block), body):
            text = _named_text(headers, inner)
            if any(line.startswith(mark) for line in text.splitlines()):
                return text
    except MailError:
        return ""
    return ""


def _leaves(headers: Headers, body: bytes) -> Iterator[tuple[Headers, bytes]]:
    """The parts without parts, in their order, as far as the limits go."""
    left = PARTS_LIMIT
    stack = [_parts(headers, body)]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            continue
        fields, inner = found
        if not _is_multipart(fields):
            yield found
        elif len(stack) < DEPTH_LIMIT:
            stack.append(_parts(fields, inner))
        left -= 1
        if not left:
            return


def _parts(headers: Headers, body: bytes) -> Iterator[tuple[Headers, bytes]]:
    if not _is_multipart(headers):
        yield headers, body
        return
    boundary = content_type(first(headers, "content-type")).params.get("boundary", "")
    for block, inner in split_parts(body, boundary):
        yield read_headers(block), inner


def _is_multipart(headers: Headers) -> bool:
    return content_type(first(headers, "content-type")).kind.startswith("multipart/")


def _named_text(headers: Headers, body: bytes) -> str:
    """The text of a part that has a name of its own, else ``""``."""
    kind = content_type(first(headers, "content-type"))
    if not (kind.param("name") or disposition_of(headers).param("filename")):
        return ""
    # An encoded line has a good third more octets than what it says, quoted-printable thrice.
    octets = octets_of(headers, body[: 4 * LONGEST_FILE])
    return octets[:LONGEST_FILE].decode("utf-8", "replace")
