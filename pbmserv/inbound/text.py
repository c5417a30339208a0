"""Decodes octets of any charset to clean text, even if the mail names the wrong charset."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from io import StringIO
from itertools import chain

LONGEST = 512 * 1024
"""Characters of a text that are read, because cleaning a text takes many times its memory."""

# An allow-list, because a look-up of any name imports modules, and some of Python's codecs
# (punycode, unicode_escape) are slow or unsafe. ISO 8859-1 and -9 are read as the Windows charsets
# that mail clients mean by them.
_SPELLINGS = {
    "utf-8": "utf-8 utf8 ascii us-ascii unicode-1-1-utf-8",
    "cp1252": "iso-8859-1 iso8859-1 latin1 latin-1 l1",
    "cp1254": "iso-8859-9 latin5 latin-5",
    "iso8859-8": "iso-8859-8-i",
    "koi8_r": "koi8-r koi8",
    "koi8_u": "koi8-u",
    "gb18030": "gb2312 gbk gb18030 gb-2312-80 cp936 x-gbk",
    "hz": "hz-gb-2312",
    "cp950": "big5 cp950",
    "big5hkscs": "big5-hkscs",
    "cp932": "shift-jis shiftjis sjis x-sjis cp932 windows-31j",
    "euc_jp": "euc-jp",
    "iso2022_jp_ext": "iso-2022-jp csiso2022jp iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-ms"
    " cp50220 cp50221 cp50222",
    "cp949": "euc-kr ks-c-5601-1987 cp949 korean windows-949",
    "iso2022_kr": "iso-2022-kr",
    "cp874": "tis-620 windows-874",
    "mac_roman": "macintosh",
    "utf-16": "utf-16",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "utf-32": "utf-32",
    "utf-32-be": "utf-32be",
    "utf-32-le": "utf-32le",
    "utf-7": "utf-7 unicode-1-1-utf-7 csunicode11utf7",
}
_CODECS = {
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in chain(range(2, 9), (10, 11), range(13, 17))},
    **{f"windows-{n}": f"cp{n}" for n in range(1250, 1259)},
    **{f"cp{n}": f"cp{n}" for n in chain(range(1250, 1259), (437, 850, 852, 866, 874))},
    **{name: codec for codec, names in _SPELLINGS.items() for name in names.split()},
}

# Charsets with several octets to a character. A mail in one of them is unreadable in any other.
_OF_SEVERAL_OCTETS = frozenset(
    ("gb18030", "hz", "cp950", "big5hkscs", "cp932", "euc_jp", "iso2022_jp_ext", "cp949",
     "iso2022_kr", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le")
)  # fmt: skip
_OF_SEVEN_BITS = frozenset(("iso2022_jp_ext", "iso2022_kr", "hz"))  # these are valid ASCII, too
_WIDE = {"utf-16": b"\xff\xfe\xfe\xff", "utf-32": b"\xff\xfe\0\0\0\0\xfe\xff"}

# RFC 1468: escapes to ASCII and its variants, half-width katakana, or two octets a character.
_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B]|\$\(D)")
_ESCAPES_TO_JAPANESE = re.compile(rb"\x1b\$[@B]")
_TWO_OCTETS = frozenset((b"$@", b"$B"))
_HIGH = bytes(octet | 0x80 if 0x20 < octet < 0x7F else octet for octet in range(256))

# Controls, and characters at which `str.splitlines` ends a line although no mail client does: a
# quoted line must not be split into lines that look unquoted.
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

# Longest run of combining marks in Unicode's stream-safe text (UAX #15, D4).
_MARKS = 30


def decode(octets: bytes, charset: str) -> str:
    """Return octets as NFC text: in `charset`, else as UTF-8, else as Windows-1252.

    A text that is almost valid in a charset of several octets gets U+FFFD for its invalid octets.
    CRLF becomes LF, NUL is dropped, other controls and unusual line ends become blanks. Returns at
    most `LONGEST` characters and never raises; an unknown charset is ignored.
    """
    codec = _CODECS.get(charset.lower().replace("_", "-"), "utf-8")
    if codec in _WIDE:
        codec = _without_mark(octets, codec)
    elif codec == "utf-8" and _ESCAPES_TO_JAPANESE.search(octets):
        codec = "iso2022_jp_ext"  # old Japanese programs do not name it
    try:
        text = octets.decode(codec)
        if codec == "utf-7":
            text.encode()  # the codec decodes lone surrogates, which cannot be stored
    except UnicodeError:
        text = _otherwise(octets, codec)
    return clean(text[:LONGEST])


def clean(text: str) -> str:
    """Return a text in NFC with LF line ends and without unusual controls."""
    text = _ODD.sub(" ", text.replace("\r\n", "\n").replace("\0", ""))
    return _nfc(text.removeprefix("\ufeff"))


def _otherwise(octets: bytes, codec: str) -> str:
    """Decode octets that are invalid in the charset that their mail names."""
    text = _nearly_as(octets, codec) if codec in _OF_SEVEN_BITS else None
    if text is not None:
        return text
    with suppress(UnicodeError):
        return octets.decode("utf-8")
    text = _nearly_as(octets, codec) if codec in _OF_SEVERAL_OCTETS else None
    return octets.decode("cp1252", "replace") if text is None else text


def _without_mark(octets: bytes, codec: str) -> str:
    """Return the codec for UTF-16 or UTF-32, guessed without a byte order mark (RFC 2781, 4.3)."""
    size = 2 if codec == "utf-16" else 4
    if octets[:size] in (_WIDE[codec][:size], _WIDE[codec][size:]):
        return codec
    if octets.isascii() and b"\0" not in octets:
        return "utf-8"  # line ends would have NULs
    sample = octets[:1000]
    first, last = sample[::size].count(0), sample[size - 1 :: size].count(0)
    return f"{codec}-{'le' if last > first else 'be'}"


def _nearly_as(octets: bytes, codec: str) -> str | None:
    """Decode an almost valid text; `None` if it has more invalid than valid characters."""
    octets = octets[: 2 * LONGEST]
    text = _japanese(octets) if codec == "iso2022_jp_ext" else octets.decode(codec, "replace")
    invalid = text.count("\ufffd")
    valid = len(text) - invalid - sum(map(text.count, map(chr, range(128))))
    return text if invalid <= valid else None


def _japanese(octets: bytes) -> str:
    """Decode ISO-2022-JP with the extensions of Windows and telephones, such as circled numbers."""
    pieces = _ESCAPE.split(octets)
    text = [pieces[0].decode("ascii", "replace")]
    for escape, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if escape in _TWO_OCTETS:
            text.append(piece.translate(_HIGH).decode("euc_jis_2004", "replace"))
        elif escape == b"(I":
            text.append(bytes(octet | 0x80 for octet in piece).decode("shift_jis", "replace"))
        else:
            text.append(piece.decode("ascii", "replace"))
    return "".join(text)


def _nfc(text: str) -> str:
    # The check is linear. Normalising sorts each run of marks in quadratic time, so long runs are
    # cut before.
    if unicodedata.is_normalized("NFC", text):
        return text
    kept = StringIO()  # a list would take sixty octets for each character
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= _MARKS:
            kept.write(char)
    return unicodedata.normalize("NFC", kept.getvalue())
