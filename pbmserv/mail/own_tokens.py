"""Find the server's own tokens in people's text, however programs on the way have spelled them.

A token opens a seat or an account for everybody who reads it. Mail programs and people spell it in
many ways: inside of another link, percent-encoded, in capitals, with entities or zero-width
characters in it, broken over lines. So the search does not look for links. It drops every
character that no token has, and reads a token at each place where one could begin. A token says
how long it is and is signed, so other text is never taken for one.
"""

from __future__ import annotations

import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pbmserv.mail.reply_address import KeyRing, mailbox_secret

DEEPEST = 4
"""How often a spelling is undone in a row: a link that was wrapped that often."""
MOST_SPELLINGS = 40
"""Readings of one text. Prose has six or so; a text made to have more is not read further."""
SHORTEST_SECRET = 24
"""Letters and digits in a secret of another form."""

_LETTER = re.compile(r"[a-z2-7]")
_SIGN = re.compile(r"[a-z0-9]")
_BLANKS = re.compile(r"[\s>|]+")
_SOFT_BREAK = re.compile(r"=[ \t]*\r?\n|=([0-9A-Fa-f]{2})")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_ESCAPE = re.compile(r"\\(?:u\{?|x|U0000)([0-9A-Fa-f]{2,4})\}?")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]")
_PRINTABLE = re.compile(rb"[\t\n\r -~]{24,}")
_SESSION = re.compile(r"[0-9]{9,12}\.[\w-]{24}\.[\w-]{0,200}\.[0-9a-f]{64}")
"""The cookie of an operator's session."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A reading of a text, and the line of the text that each of its characters comes from."""

    text: str
    lines: Sequence[int]


def lines_with_tokens(ring: KeyRing, lines: Sequence[str], secrets: Iterable[str] = ()) -> set[int]:
    """Return the places of lines that hold a token of this server, or a part of one.

    Args:
        secrets: other secrets of the server that no key has signed.
    """
    if sum(map(str.isalnum, "".join(lines))) < SHORTEST_SECRET:
        return set()
    fixed = [_signs(one) for one in (mailbox_secret(ring), *secrets)]
    fixed = [one for one in fixed if len(one) >= SHORTEST_SECRET]
    places: set[int] = set()
    for spelling in _spellings(_plain(lines)):
        places |= _with_tokens(ring, spelling) | _with_secrets(fixed, spelling)
        places |= _with_sessions(spelling)
    return places


def _with_tokens(ring: KeyRing, spelling: _Spelling) -> set[int]:
    kept = [match.start() for match in _LETTER.finditer(spelling.text.lower())]
    letters = "".join([spelling.text[at] for at in kept]).lower()
    return {
        spelling.lines[kept[at]]
        for start, end in ring.tokens_in(letters)
        for at in range(start, end)
    }


def _with_secrets(secrets: Iterable[str], spelling: _Spelling) -> set[int]:
    kept = [match.start() for match in _SIGN.finditer(spelling.text.lower())]
    signs = "".join([spelling.text[at] for at in kept]).lower()
    return {
        spelling.lines[kept[at]]
        for secret in secrets
        for match in re.finditer(re.escape(secret), signs)
        for at in range(*match.span())
    }


def _with_sessions(spelling: _Spelling) -> set[int]:
    if spelling.text.count(".") < 3:
        return set()
    joined = _joined(spelling)
    return {
        joined.lines[at] for match in _SESSION.finditer(joined.text) for at in range(*match.span())
    }


def _signs(text: str) -> str:
    return "".join(_SIGN.findall(text.lower()))


# -- spellings -------------------------------------------------------------------------------


def _plain(lines: Sequence[str]) -> _Spelling:
    """The text in plain characters: full-width and accented letters become the letters a to z,
    and invisible characters go."""
    text = "\n".join(lines)
    places = [at for at, line in enumerate(lines) for _ in range(len(line) + 1)]
    if text.isascii():
        return _Spelling(text, places)
    signs, kept = [], []
    for place, sign in zip(places, text, strict=False):
        for one in unicodedata.normalize("NFKD", "i" if sign == "\u0131" else sign):
            if unicodedata.category(one) not in {"Cf", "Mn", "Me"}:
                signs.append(one)
                kept.append(place)
    return _Spelling("".join(signs), kept)


def _spellings(plain: _Spelling) -> Iterator[_Spelling]:
    """The text as it is, and with its spellings undone in every order, each reading once."""
    known = {plain.text}
    present = [plain]
    yield plain
    for _ in range(DEEPEST):
        following: list[_Spelling] = []
        for spelling in present:
            for undone in _undone(spelling):
                if len(known) >= MOST_SPELLINGS:
                    return
                if undone.text not in known:
                    known.add(undone.text)
                    following.append(undone)
                    yield undone
        present = following


def _undone(spelling: _Spelling) -> Iterator[_Spelling]:
    """The text with one kind of spelling undone."""
    text = spelling.text
    for pattern, meaning in _WAYS:
        if pattern.search(text):
            yield _replaced(spelling, pattern, meaning)
    if _BLANKS.search(text) and any(pattern.search(text) for pattern, _ in _WAYS):
        yield _joined(spelling)
    for shift in range(4):
        yield from _from_base64(spelling, shift)


def _replaced(
    spelling: _Spelling, pattern: re.Pattern[str], meaning: Callable[[re.Match[str]], str]
) -> _Spelling:
    pieces: list[str] = []
    lines: list[int] = []
    end = 0
    for match in pattern.finditer(spelling.text):
        instead = meaning(match)
        pieces += (spelling.text[end : match.start()], instead)
        lines += spelling.lines[end : match.start()]
        lines += [spelling.lines[match.start()]] * len(instead)
        end = match.end()
    pieces.append(spelling.text[end:])
    lines += spelling.lines[end:]
    return _Spelling("".join(pieces), lines)


def _by_number(match: re.Match[str]) -> str:
    """The character of a number in hexadecimal digits; "" where there is none."""
    return chr(int(match[1], 16)) if match[1] else ""


_WAYS: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = (
    (_PERCENT, _by_number),
    (_ENTITY, lambda match: html.unescape(match[0])),
    (_SOFT_BREAK, _by_number),
    (_ESCAPE, _by_number),
)

_joined = partial(_replaced, pattern=_BLANKS, meaning=lambda _: "")
"""The text without blanks, ends of lines and marks of quotes, which may break an escape."""


def _from_base64(spelling: _Spelling, shift: int) -> Iterator[_Spelling]:
    """Readable passages of the text read as base64 from the character number *shift* on.

    Characters that base64 has not are dropped, so where an encoded passage begins in a text decides
    which of four readings shows it.
    """
    kept = [match.start() for match in _BASE64.finditer(spelling.text)][shift:]
    signs = "".join([spelling.text[at] for at in kept]).replace("-", "+").replace("_", "/")
    octets = binascii.a2b_base64(signs + "A" * (-len(signs) % 4))[: len(kept) * 3 // 4]
    for match in _PRINTABLE.finditer(octets):
        lines = [spelling.lines[kept[at * 4 // 3]] for at in range(*match.span())]
        yield _Spelling(match[0].decode("ascii"), lines)
