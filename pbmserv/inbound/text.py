"""Octets to clean text, whatever their charset is said to be, and HTML to plain text, with its
quoted parts shrunk to a ``>`` line.

Inscriptis lays the text out. It pads table cells and list items to the widest one and obeys
lengths in style attributes, which a stranger could use to fill the memory; so the tree that it
gets has no tables, lists or attributes left.
"""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from itertools import chain
from typing import Any

LONGEST = 512 * 1024
"""Characters of a text that are looked at; to clean one takes many times its own memory."""

# An allow-list: looking up a name that a stranger chose imports modules, and some
# codecs that Python would find (punycode, unicode_escape) are slow or unsafe.
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

# Charsets in which a Chinese, Japanese or Korean mail is lost when it is read as another one.
_OF_SEVERAL_OCTETS = frozenset(
    ("gb18030", "hz", "cp950", "big5hkscs", "cp932", "euc_jp", "iso2022_jp_ext", "cp949",
     "iso2022_kr", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be", "utf-32-le")
)  # fmt: skip
_OF_SEVEN_BITS = frozenset(("iso2022_jp_ext", "iso2022_kr", "hz"))  # all of it looks like ASCII
_WIDE = {"utf-16": b"\xff\xfe\xfe\xff", "utf-32": b"\xff\xfe\0\0\0\0\xfe\xff"}

# RFC 1468: what follows is ASCII or nearly, half-width katakana, or two octets a character.
_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B]|\$\(D)")
_ESCAPES_TO_JAPANESE = re.compile(rb"\x1b\$[@B]")
_TWO_OCTETS = frozenset((b"$@", b"$B"))
_HIGH = bytes(octet | 0x80 if 0x20 < octet < 0x7F else octet for octet in range(256))

# Characters at which `str.splitlines` would see the end of a line although no mail
# client does: a quoted line must not turn into one that looks unquoted. Also controls.
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

# Longest run of combining marks that Unicode's stream-safe text has (UAX #15, D4).
_MARKS = 30


def decode(octets: bytes, charset: str) -> str:
    """`octets` as NFC text: as `charset`, else as UTF-8, else as Windows-1252.

    Where only a little of it is not in a charset of several octets, that little becomes U+FFFD.
    CRLF becomes LF, NUL is dropped, other controls and odd line ends become
    blanks. At most `LONGEST` characters. Never raises; an unknown charset counts as none.
    """
    codec = _CODECS.get(charset.lower().replace("_", "-"), "utf-8")
    if codec in _WIDE:
        codec = _without_mark(octets, codec)
    elif codec == "utf-8" and _ESCAPES_TO_JAPANESE.search(octets):
        codec = "iso2022_jp_ext"  # what old Japanese programs do not say
    try:
        text = octets.decode(codec)
        if codec == "utf-7":
            text.encode()  # it lets half a character through, which nobody can store
    except UnicodeError:
        text = _otherwise(octets, codec)
    return clean(text[:LONGEST])


def clean(text: str) -> str:
    """`text` with LF line ends, without odd controls, in NFC."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if _ODD.search(text):
        text = _ODD.sub(" ", text.replace("\0", ""))
    if text.isascii():
        return text
    return _nfc(text.removeprefix("\ufeff"))


def _otherwise(octets: bytes, codec: str) -> str:
    """Octets that are not quite in the charset that their mail names."""
    text = _nearly_as(octets, codec) if codec in _OF_SEVEN_BITS else None
    if text is not None:
        return text
    with suppress(UnicodeError):
        return octets.decode("utf-8")
    text = _nearly_as(octets, codec) if codec in _OF_SEVERAL_OCTETS else None
    return octets.decode("cp1252", "replace") if text is None else text


def _without_mark(octets: bytes, codec: str) -> str:
    """Which order of octets is meant where no byte order mark says so (RFC 2781 section 4.3)."""
    size = 2 if codec == "utf-16" else 4
    if octets[:size] in (_WIDE[codec][:size], _WIDE[codec][size:]):
        return codec
    if octets.isascii() and b"\0" not in octets:
        return "utf-8"  # no mail is without line ends, and those have NUL in them
    looked_at = octets[:1000]
    first, last = looked_at[::size].count(0), looked_at[size - 1 :: size].count(0)
    return f"{codec}-{'le' if last > first else 'be'}"


def _nearly_as(octets: bytes, codec: str) -> str | None:
    """The text in a charset that it is not quite in, ``None`` if it is hardly in it at all."""
    octets = octets[: 2 * LONGEST]
    text = _japanese(octets) if codec == "iso2022_jp_ext" else octets.decode(codec, "replace")
    odd = text.count("\ufffd")
    right = len(text) - odd - sum(map(text.count, map(chr, range(128))))
    return text if odd <= right else None


def _japanese(octets: bytes) -> str:
    """ISO-2022-JP as Windows and telephones write it, with circled numbers and the like."""
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
    # The check is linear: it stops at the first mark out of order. Normalising is not:
    # it sorts a run of marks by insertion, so runs are cut before.
    if unicodedata.is_normalized("NFC", text):
        return text
    kept = StringIO()  # a list of them would take sixty octets for each
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run <= _MARKS:
            kept.write(char)
    return unicodedata.normalize("NFC", kept.getvalue())


HTML_LIMIT = 256 * 1024
"""Octets of HTML that are looked at; what a reply adds stands at the top."""

_ELEMENT_LIMIT = 20_000
_DIVIDER = "-----Original Message-----"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The HTML Standard's rendering section, and elements of older standards. The words of one inline
# element and the next are one word; those of a block are a line. Elements that are neither, and
# names that nobody knows, have a blank around them: words that look separate are never joined.
INLINE = _names(
    """
    html body a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label
    mark nobr output q s samp slot small span strike strong sub sup time tt u var wbr ruby rb br
    """
)
BLOCKS = _names(
    """
    address article aside blockquote caption center col colgroup dd details dialog dir div dl dt
    fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr isindex
    legend li listing main menu nav noframes ol optgroup option p plaintext pre search section
    summary table tbody td tfoot th thead tr ul xmp
    """
)
# Inscriptis has these as blocks, some with a blank line around them; other blocks become "div".
_LAID_OUT = _names(
    """
    address article aside div figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup listing main
    nav p plaintext pre xmp
    """
)
_NOT_SHOWN = _names("head link meta script style template title")
_LINES = frozenset(("div", "p"))
_UNSEEN = frozenset(
    ("head", "script", "style", "title", "template", "svg", "math", "object", "iframe", "noscript")
)
_PICTURES = frozenset(
    ("img", "image", "picture", "video", "audio", "embed", "svg", "math", "object", "iframe",
     "template", "noscript", "input", "textarea", "select")
)  # fmt: skip
"""What can say something, and of which no text is left."""

# Where mail programs put what they quote, and after which of their marks all is quoted.
_QUOTE_CLASSES = (
    *("yahoo_quoted", "protonmail_quote", "tutanota_quote", "zmail_extra", "zmail_extra_hr"),
    "moz-forward-container",
)
_DIVIDER_IDS = (
    *("divrplyfwdmsg", "appendonsend", "replysplit", "stopspelling", "zwchr", "reply-intro"),
    *("mail-editor-reference-message-container", "olk_src_body_section", "replybody1"),
    *("mailbirdquote", "edo-original", "forwardbody1", "orimsghtmlseperator"),
)
_SIGNATURE_CLASSES = (
    *("gmail_signature", "gmail_signature_prefix", "moz-signature", "k9mail-signature"),
    *("protonmail_signature_block", "ymail_android_signature", "ymail_ios_signature"),
)
_SIGNATURE_IDS = (
    "signature",
    "ms-outlook-mobile-signature",
    "ymail_android_signature",
    "composer_signature",
)

# A line down the left side is how GMX, Outlook and others draw what somebody else said.
_LEFT_LINE = re.compile(
    r"border-left(?:-width|-style)?\s{0,3}:\s{0,3}(?!none|0|initial|inherit|\s)"
)
_DISPLAYED_AS_BLOCK = re.compile(
    r"display\s{0,3}:\s{0,3}(?:block|flex|grid|flow-root|table|list-item)"
)
_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none|mso-hide\s{0,3}:\s{0,3}all")
"""What neither its writer nor anybody else sees says nothing."""

_LOOKED_AT = 300
"""Characters of an attribute that are looked at."""


@dataclass(frozen=True, slots=True)
class Html:
    """What a mail's markup shows.

    Attributes:
        text: without blank lines around it.
        left_out: there were pictures, a signature, or what may or may not be a quote.
    """

    text: str = ""
    left_out: bool = False


def read_html(markup: str) -> Html | None:
    """What `markup` shows, ``None`` if it cannot be read within bounds. Never raises."""
    octets = markup.encode("utf-8", "replace")[:HTML_LIMIT]
    if not octets.strip():
        return Html()
    try:
        found = _render(octets)
    except Exception:  # noqa: BLE001 - two parsers of strangers' markup; none of it may get out
        return None
    return None if found is None else Html(clean(found.text).strip("\n"), found.left_out)


def _render(octets: bytes) -> Html | None:
    # Imported here because few mails need them and both are slow to load.
    lxml = import_module("lxml.html")
    engine = import_module("inscriptis.html_engine")
    profiles = import_module("inscriptis.css_profiles")
    config = import_module("inscriptis.model.config")

    parser = lxml.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = lxml.document_fromstring(octets, parser=parser)
    except import_module("lxml.etree").ParserError:
        return Html()  # nothing but comments and the like
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    if len(elements) > _ELEMENT_LIMIT:
        return None
    left_out = False
    for element in elements:
        left_out = _tame(element) or left_out
    strict = config.ParserConfig(css=profiles.STRICT_CSS_PROFILE)
    text = str(engine.Inscriptis(tree, strict).get_text())
    # Beyond some depth the parser stops. What is left of a mail must not look like an empty one.
    if not text.strip() and parser.error_log.filter_from_fatals():
        return None
    return Html(text, left_out)


def _tame(element: Any) -> bool:
    """Leave no more of an element than the layout needs; whether anything was lost by that."""
    tag = element.tag
    left_out = tag in _PICTURES
    if tag in _UNSEEN:
        element.clear(keep_tail=True)
    elif element.attrib and _is_divider(element):
        _replace(element, _DIVIDER)
    elif tag == "blockquote" or (element.attrib and _is_quote(element)):
        _replace(element, ">")
    elif element.attrib and _is_hidden(element):
        element.clear(keep_tail=True)
        left_out = True
    elif element.attrib and _has_left_line(element):
        _replace(element, ">")
        left_out = True
    elif element.attrib and _is_signature(element):
        _replace(element, "")
        left_out = True
    elif tag in BLOCKS or (element.attrib and _is_displayed_as_block(element)):
        element.tag = tag if tag in _LAID_OUT else "div"
    if tag not in INLINE and tag not in BLOCKS and tag not in _NOT_SHOWN:
        element.text = f" {element.text or ''}"
        element.tail = f" {element.tail or ''}"
    elif (
        tag in _LINES
        and not len(element)
        and "\xa0" in (element.text or "")
        and not element.text.strip()
    ):
        element.text = None  # an empty line, held open by a blank that does not break
        element.append(element.makeelement("br"))
    element.attrib.clear()
    return left_out


def _is_divider(element: Any) -> bool:
    return _ident(element).startswith(_DIVIDER_IDS)


def _is_quote(element: Any) -> bool:
    return element.get("name") == "quote" or _classes(element, _QUOTE_CLASSES)


def _is_hidden(element: Any) -> bool:
    style = element.get("style", "")[:_LOOKED_AT].lower()
    return "hidden" in element.attrib or _HIDDEN.search(style) is not None


def _is_displayed_as_block(element: Any) -> bool:
    style = element.get("style", "")[:_LOOKED_AT].lower()
    return _DISPLAYED_AS_BLOCK.search(style) is not None


def _has_left_line(element: Any) -> bool:
    return _LEFT_LINE.search(element.get("style", "")[:_LOOKED_AT].lower()) is not None


def _is_signature(element: Any) -> bool:
    return _ident(element) in _SIGNATURE_IDS or _classes(element, _SIGNATURE_CLASSES)


def _ident(element: Any) -> str:
    """An id without the ``x_`` that Outlook sets before it at each reply."""
    ident: str = element.get("id", "")[:_LOOKED_AT].lower()
    while ident.startswith("x_"):
        ident = ident[2:]
    return ident


def _classes(element: Any, names: tuple[str, ...]) -> bool:
    """Whether a class is one of these; some programs set letters before it at each reply."""
    given = element.get("class", "")[:_LOOKED_AT].lower().split()
    return any(one.endswith(names) for one in given)


def _replace(element: Any, text: str) -> None:
    element.clear(keep_tail=True)
    element.tag = "div"
    element.text = text
