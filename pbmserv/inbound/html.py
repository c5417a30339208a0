"""Renders HTML mails as plain text, with each quoted part as a ``>`` line.

Inscriptis does the layout. It pads table cells and list items to the widest one and obeys lengths
in style attributes, so a stranger could fill the memory. Therefore tables, lists and attributes are
removed from the tree first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pbmserv.inbound.text import clean

HTML_LIMIT = 256 * 1024
"""Octets of HTML that are read; the new text of a reply is at the top."""

_ELEMENT_LIMIT = 20_000
"""Elements that are laid out."""
_DIVIDER = "-----Original Message-----"
"""The line that replaces an element below which everything is quoted."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements of the HTML Standard's rendering section, and of older standards. Inline elements join
# words; blocks are lines of their own. Other and unknown elements get blanks around them, so that
# words which look separate are never joined.
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
# Blocks that Inscriptis knows, some with a blank line around them; other blocks become "div".
_LAID_OUT = _names(
    """
    address article aside div figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup listing main
    nav p plaintext pre xmp
    """
)
_NOT_SHOWN = _names("head link meta script style template title")
_LINES = frozenset(("div", "p"))
"""Elements that mail programs use for lines: `<div>&nbsp;</div>` is a blank one."""
_REMOVED = _names("head script style title template svg math object iframe noscript")
_PICTURES = _names(
    """
    img image picture video audio embed svg math object iframe template noscript input textarea
    select
    """
)
"""Elements that may say something to a reader but leave no text."""

_QUOTE_CLASSES = (
    *("yahoo_quoted", "protonmail_quote", "tutanota_quote", "zmail_extra", "zmail_extra_hr"),
    "moz-forward-container",
)
"""Ends of classes of quotes: `<div class="ydp1yahoo_quoted">` (Yahoo), "zmail_extra" (Zoho)."""

_DIVIDER_IDS = (
    *("divrplyfwdmsg", "appendonsend", "replysplit", "stopspelling", "zwchr", "reply-intro"),
    *("mail-editor-reference-message-container", "olk_src_body_section", "replybody1"),
    *("mailbirdquote", "edo-original", "forwardbody1", "orimsghtmlseperator"),
)
"""Beginnings of identifiers of elements below which everything is quoted:
`<div id="divRplyFwdMsg">` (Outlook), `<hr id="zwchr">` (Zimbra)."""

_SIGNATURE_CLASSES = (
    *("gmail_signature", "gmail_signature_prefix", "moz-signature", "k9mail-signature"),
    *("protonmail_signature_block", "ymail_android_signature", "ymail_ios_signature"),
)
_SIGNATURE_IDS = _names(
    "signature ms-outlook-mobile-signature ymail_android_signature composer_signature"
)
"""Classes and identifiers of signatures: `<div class="gmail_signature">` (Gmail)."""

_LEFT_LINE = re.compile(
    r"border-left(?:-width|-style)?\s{0,3}:\s{0,3}(?!none|0|initial|inherit|\s)"
)
"""A line on the left, with which GMX, Outlook and others draw quotes: "border-left: solid 2px"."""

_DISPLAYED_AS_BLOCK = re.compile(
    r"display\s{0,3}:\s{0,3}(?:block|flex|grid|flow-root|table|list-item)"
)
"""A style that puts an element on lines of its own: `<span style="display:block">`."""

_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none|mso-hide\s{0,3}:\s{0,3}all")
"""Styles of elements that are not shown."""

_LONGEST_ATTRIBUTE = 300
"""Characters of an attribute that are read."""


@dataclass(frozen=True, slots=True)
class Html:
    """The rendered text of an HTML mail.

    Attributes:
        text: the text without blank lines around it.
        left_out: pictures, a signature, or a possible quote were left out.
    """

    text: str = ""
    left_out: bool = False


def read_html(markup: str) -> Html | None:
    """Render HTML; return `None` if it exceeds the limits. Never raises."""
    octets = markup.encode("utf-8", "replace")[:HTML_LIMIT]
    if not octets.strip():
        return Html()
    try:
        html = _render(octets)
    except Exception:  # noqa: BLE001 - the libraries may fail in any way on a stranger's markup
        return None
    return None if html is None else Html(clean(html.text).strip("\n"), html.left_out)


def _render(octets: bytes) -> Html | None:
    # Imported here because few mails need them, and both load slowly.
    from inscriptis.css_profiles import STRICT_CSS_PROFILE
    from inscriptis.html_engine import Inscriptis
    from inscriptis.model.config import ParserConfig
    from lxml.etree import ParserError
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = document_fromstring(octets, parser=parser)
    except ParserError:
        return Html()  # the mail holds only comments and the like
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    if len(elements) > _ELEMENT_LIMIT:
        return None
    left_out = False
    for element in elements:
        left_out = _simplify(element) or left_out
    if sum(1 for _ in tree.iter()) > _ELEMENT_LIMIT:  # empty lines have elements of their own now
        return None
    text = str(Inscriptis(tree, ParserConfig(css=STRICT_CSS_PROFILE)).get_text())
    # The parser stops at some depth. The rest of the mail must not look like an empty one.
    if not text.strip() and parser.error_log.filter_from_fatals():
        return None
    return Html(text, left_out)


def _simplify(element: Any) -> bool:
    """Reduce an element to what the layout needs; return whether words or pictures were lost."""
    tag = element.tag
    left_out = tag in _PICTURES
    if tag in _REMOVED:
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
        element.text = None  # an empty line, which a non-breaking blank keeps open
        element.append(element.makeelement("br"))
    element.attrib.clear()
    return left_out


def _is_divider(element: Any) -> bool:
    return _id(element).startswith(_DIVIDER_IDS)


def _is_quote(element: Any) -> bool:
    return element.get("name") == "quote" or _has_class(element, _QUOTE_CLASSES)


def _is_hidden(element: Any) -> bool:
    return "hidden" in element.attrib or _HIDDEN.search(_style(element)) is not None


def _is_displayed_as_block(element: Any) -> bool:
    return _DISPLAYED_AS_BLOCK.search(_style(element)) is not None


def _has_left_line(element: Any) -> bool:
    return _LEFT_LINE.search(_style(element)) is not None


def _style(element: Any) -> str:
    style: str = element.get("style", "")[:_LONGEST_ATTRIBUTE].lower()
    return style


def _is_signature(element: Any) -> bool:
    return _id(element) in _SIGNATURE_IDS or _has_class(element, _SIGNATURE_CLASSES)


def _id(element: Any) -> str:
    """Return an element's id without the ``x_`` that Outlook adds at each reply."""
    id_: str = element.get("id", "")[:_LONGEST_ATTRIBUTE].lower()
    while id_.startswith("x_"):
        id_ = id_[2:]
    return id_


def _has_class(element: Any, names: tuple[str, ...]) -> bool:
    """Return whether an element has one of these classes, perhaps with a prefix of each reply."""
    classes = element.get("class", "")[:_LONGEST_ATTRIBUTE].lower().split()
    return any(name.endswith(names) for name in classes)


def _replace(element: Any, text: str) -> None:
    element.clear(keep_tail=True)
    element.tag = "div"
    element.text = text
