"""Finds the server's own tokens in people's text, in any spelling.

A token opens a seat or an account for everybody who reads it. Mail programs and people change its
spelling: inside another link, percent-encoded, in capitals, with entities or zero-width characters,
broken over lines. So the search does not look for links. It drops every character that a token
cannot have, and tries to read a token at each place. A token contains its length and is signed, so
other text is never mistaken for one.
"""

from __future__ import annotations

import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pbmserv.mail.key_ring import KeyRing, mailbox_secret

DEEPEST = 4
"""Spellings that are undone in a row, as in a link that was wrapped several times."""
MOST_SPELLINGS = 40
"""Readings of one text. Prose has about six; a hostile text is not read further."""
SHORTEST_SECRET = 24
"""Letters and digits in a secret of another form."""

_TOKEN_CHAR = re.compile(r"[a-z2-7]")
_SECRET_CHAR = re.compile(r"[a-z0-9]")
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
    """A reading of a text, with the place of the line from which each character comes."""

    text: str
    lines: Sequence[int]


def lines_with_tokens(ring: KeyRing, lines: Sequence[str], secrets: Iterable[str] = ()) -> set[int]:
    """Return the places of lines that hold a token of this server, or a part of one.

    Args:
        secrets: other secrets of the server, which are not signed.
    """
    bare_secrets = [_secret_chars(secret) for secret in (mailbox_secret(ring), *secrets)]
    bare_secrets = [secret for secret in bare_secrets if len(secret) >= SHORTEST_SECRET]
    places: set[int] = set()
    for spelling in _spellings(_plain(lines)):
        places |= _with_tokens(ring, spelling) | _with_secrets(bare_secrets, spelling)
        places |= _with_sessions(spelling)
    return places


def _with_tokens(ring: KeyRing, spelling: _Spelling) -> set[int]:
    kept = [match.start() for match in _TOKEN_CHAR.finditer(spelling.text.lower())]
    letters = "".join([spelling.text[at] for at in kept]).lower()
    return {
        spelling.lines[kept[at]]
        for start, end in ring.tokens_in(letters)
        for at in range(start, end)
    }


def _with_secrets(secrets: Iterable[str], spelling: _Spelling) -> set[int]:
    kept = [match.start() for match in _SECRET_CHAR.finditer(spelling.text.lower())]
    chars = "".join([spelling.text[at] for at in kept]).lower()
    return {
        spelling.lines[kept[at]]
        for secret in secrets
        for match in re.finditer(re.escape(secret), chars)
        for at in range(*match.span())
    }


def _with_sessions(spelling: _Spelling) -> set[int]:
    joined = _joined(spelling)
    return {
        joined.lines[at] for match in _SESSION.finditer(joined.text) for at in range(*match.span())
    }


def _secret_chars(text: str) -> str:
    return "".join(_SECRET_CHAR.findall(text.lower()))


# -- spellings -------------------------------------------------------------------------------


def _plain(lines: Sequence[str]) -> _Spelling:
    """Return the text without invisible characters and accents, in letters of normal width."""
    text = "\n".join(lines)
    places = [at for at, line in enumerate(lines) for _ in range(len(line) + 1)]
    if text.isascii():
        return _Spelling(text, places)
    chars, kept = [], []
    for place, char in zip(places, text, strict=False):
        for plain_char in unicodedata.normalize("NFKD", "i" if char == "\u0131" else char):
            if unicodedata.category(plain_char) not in {"Cf", "Mn", "Me"}:
                chars.append(plain_char)
                kept.append(place)
    return _Spelling("".join(chars), kept)


def _spellings(plain: _Spelling) -> Iterator[_Spelling]:
    """Yield the text, and all readings with its spellings undone in any order."""
    texts = {plain.text}
    present = [plain]
    yield plain
    for _ in range(DEEPEST):
        following: list[_Spelling] = []
        for spelling in present:
            for undone in _undone(spelling):
                if len(texts) >= MOST_SPELLINGS:
                    return
                if undone.text not in texts:
                    texts.add(undone.text)
                    following.append(undone)
                    yield undone
        present = following


def _undone(spelling: _Spelling) -> Iterator[_Spelling]:
    """Yield the text with one kind of spelling undone, for each kind that it has."""
    text = spelling.text
    for pattern, meaning in _ESCAPES:
        if pattern.search(text):
            yield _replaced(spelling, pattern, meaning)
    if _BLANKS.search(text) and any(pattern.search(text) for pattern, _ in _ESCAPES):
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
        replacement = meaning(match)
        pieces += (spelling.text[end : match.start()], replacement)
        lines += spelling.lines[end : match.start()]
        lines += [spelling.lines[match.start()]] * len(replacement)
        end = match.end()
    pieces.append(spelling.text[end:])
    lines += spelling.lines[end:]
    return _Spelling("".join(pieces), lines)


def _by_number(match: re.Match[str]) -> str:
    """Return the character with a hexadecimal number; ``""`` without a number."""
    return chr(int(match[1], 16)) if match[1] else ""


_ESCAPES: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = (
    (_PERCENT, _by_number),
    (_ENTITY, lambda match: html.unescape(match[0])),
    (_SOFT_BREAK, _by_number),
    (_ESCAPE, _by_number),
)

_joined = partial(_replaced, pattern=_BLANKS, meaning=lambda _: "")
"""Remove blanks, line ends and quote marks, which may split an escape."""


def _from_base64(spelling: _Spelling, shift: int) -> Iterator[_Spelling]:
    """Yield the readable passages of the text decoded as base64.

    Args:
        shift: number of characters to skip, from 0 to 3. An encoded passage is readable with one of
            them, because base64 has groups of four characters.
    """
    kept = [match.start() for match in _BASE64.finditer(spelling.text)][shift:]
    chars = "".join([spelling.text[at] for at in kept]).replace("-", "+").replace("_", "/")
    octets = binascii.a2b_base64(chars + "A" * (-len(chars) % 4))[: len(kept) * 3 // 4]
    for match in _PRINTABLE.finditer(octets):
        lines = [spelling.lines[kept[at * 4 // 3]] for at in range(*match.span())]
        yield _Spelling(match[0].decode("ascii"), lines)
