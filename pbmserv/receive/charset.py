"""Octets to clean text, whatever their charset is said to be."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain

# An allow-list: looking up a name that a stranger chose imports modules, and some
# codecs that Python would find (punycode, utf-7, unicode_escape) are slow or unsafe.
# ISO 8859-1 and -9 are read as Windows does, which is how mail clients mean them.
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
    "iso2022_jp_ext": "iso-2022-jp",
    "cp949": "euc-kr ks-c-5601-1987 cp949 korean windows-949",
    "iso2022_kr": "iso-2022-kr",
    "cp874": "tis-620 windows-874",
    "mac_roman": "macintosh",
    "utf-16": "utf-16",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
}
_CODECS = {
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in chain(range(2, 9), (10, 11), range(13, 17))},
    **{f"windows-{n}": f"cp{n}" for n in range(1250, 1259)},
    **{f"cp{n}": f"cp{n}" for n in chain(range(1250, 1259), (437, 850, 852, 866, 874))},
    **{name: codec for codec, names in _SPELLINGS.items() for name in names.split()},
}

# Characters at which `str.splitlines` would see the end of a line although no mail
# client does: a quoted line must not turn into one that looks unquoted. Also controls.
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

# Longest run of combining marks that Unicode's stream-safe text has (UAX #15, D4).
_MARKS = 30


def decode(octets: bytes, charset: str) -> str:
    """`octets` as NFC text: as `charset`, else as UTF-8, else as Windows-1252.

    CRLF becomes LF, NUL is dropped, other controls and odd line ends become
    blanks. Never raises; an unknown charset counts as none.
    """
    codec = _CODECS.get(charset.lower().replace("_", "-"), "utf-8")
    text = _as(octets, codec)
    if text is None:
        text = _as(octets, "utf-8")
    if text is None:
        text = octets.decode("cp1252", "replace")
    return clean(text)


def clean(text: str) -> str:
    """`text` with LF line ends, without odd controls, in NFC."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if _ODD.search(text):
        text = _ODD.sub(" ", text.replace("\0", ""))
    if text.isascii():
        return text
    return _nfc(text.removeprefix("\ufeff"))


def _as(octets: bytes, codec: str) -> str | None:
    try:
        return octets.decode(codec)
    except UnicodeError:
        return None


def _nfc(text: str) -> str:
    # The check is linear: it stops at the first mark out of order. Normalising is not:
    # it sorts a run of marks by insertion, so runs are cut before.
    if unicodedata.is_normalized("NFC", text):
        return text
    kept: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= _MARKS:
            kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))
