"""HTML of a mail as plain text, with its quoted parts shrunk to a ``>`` line.

Inscriptis lays the text out. It pads table cells and list items to the widest
one and obeys lengths in style attributes, which a stranger could use to fill
the memory; so the tree that it gets has no tables, lists or attributes left.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pbmserv.receive.charset import clean

HTML_LIMIT = 256 * 1024
"""Octets of HTML that are looked at; what a reply adds stands at the top."""

_ELEMENT_LIMIT = 20_000
_DIVIDER = "-----Original Message-----"
_AS_BLOCK = frozenset(
    ("table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "ul", "ol", "li", "dl", "dt")
)
_UNSEEN = frozenset(
    ("head", "script", "style", "title", "template", "svg", "math", "object", "iframe", "noscript")
)

# Where mail programs put what they quote, and after which of their marks all is quoted.
_QUOTE_CLASSES = frozenset(
    ("yahoo_quoted", "protonmail_quote", "tutanota_quote", "zmail_extra", "moz-forward-container")
)
_DIVIDER_IDS = frozenset(
    (
        "divrplyfwdmsg",
        "appendonsend",
        "replysplit",
        "mail-editor-reference-message-container",
        "olk_src_body_section",
    )
)


def html_text(markup: str) -> str:
    """The text of `markup`, ``""`` for markup that cannot be read within bounds. Never raises."""
    octets = markup.encode("utf-8", "replace")[:HTML_LIMIT]
    if not octets.strip():
        return ""
    try:
        return clean(_render(octets)).strip("\n")
    except Exception:  # noqa: BLE001 - two parsers of strangers' markup; none of it may get out
        return ""


def _render(octets: bytes) -> str:
    # Imported here because few mails need them and both are slow to load.
    lxml = import_module("lxml.html")
    engine = import_module("inscriptis.html_engine")
    profiles = import_module("inscriptis.css_profiles")
    config = import_module("inscriptis.model.config")

    parser = lxml.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    tree = lxml.document_fromstring(octets, parser=parser)
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    if len(elements) > _ELEMENT_LIMIT:
        return ""
    for element in elements:
        _tame(element)
    strict = config.ParserConfig(css=profiles.STRICT_CSS_PROFILE)
    return str(engine.Inscriptis(tree, strict).get_text())


def _tame(element: Any) -> None:
    tag = element.tag
    names = frozenset(element.get("class", "")[:200].lower().split())
    ident = element.get("id", "")[:60].lower().removeprefix("x_")
    if tag in _UNSEEN:
        element.clear(keep_tail=True)
    elif ident in _DIVIDER_IDS:
        _replace(element, _DIVIDER)
    elif tag == "blockquote" or names & _QUOTE_CLASSES:
        _replace(element, ">")
    elif tag in _AS_BLOCK:
        element.tag = "div"
    element.attrib.clear()


def _replace(element: Any, text: str) -> None:
    element.clear(keep_tail=True)
    element.tag = "div"
    element.text = text
