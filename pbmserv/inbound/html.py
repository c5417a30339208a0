"""HTML of a mail as plain text, with its quoted parts shrunk to a ``>`` line.

Inscriptis lays the text out. It pads table cells and list items to the widest
one and obeys lengths in style attributes, which a stranger could use to fill
the memory; so the tree that it gets has no tables, lists or attributes left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pbmserv.inbound.charset import clean

HTML_LIMIT = 256 * 1024
"""Octets of HTML that are looked at; what a reply adds stands at the top."""

_ELEMENT_LIMIT = 20_000
_DIVIDER = "-----Original Message-----"
_AS_BLOCK = frozenset(
    ("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "ul", "ol", "li", "dl", "dt")
)
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
    elif element.attrib and _has_left_line(element):
        _replace(element, ">")
        left_out = True
    elif element.attrib and _is_signature(element):
        _replace(element, "")
        left_out = True
    elif tag in _AS_BLOCK:
        element.tag = "div"
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
