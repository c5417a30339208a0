"""What the writer of a reply added, without anything that the reply quotes.

One pass over the lines, with no regular expression over more than a few of
them: cutting replies out of mail by patterns goes quadratic on crafted input.
Where a line could be quoted it is left out: a lost remark is a nuisance, a
quoted command that is carried out is a forged move.
"""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.receive.attribution import (
    BLANKS,
    SPAN,
    header_role,
    is_dated,
    lines_above_quote,
    lines_of_attribution,
    quotes_behind,
)
from pbmserv.receive.phrases import ADVERTISED, ENDINGS, SENT_FROM, SENT_FROM_TAILS

MARKER = "Reply above this line"
"""The line in every letter of ours at which reading ends, wherever it stands."""

_MARKER_WORDS = MARKER.casefold()
_QUOTE_MARKS = (
    *(">", "\uff1e", "\ufe65", "»", "\u203a", "\u300b", "\u276f", "&gt;"),
    *("|", "¦", "\uff5c", "\u2502", "\u2503", "\u2551", "\u258c", "}"),
)
_PLAIN_MARKS = (">", "\uff1e", "&gt;")
_INITIALS_LIMIT = 14
_IN_NAMES = str.maketrans("", "", "-.'\u2019 ")

# A client that wraps a quote leaves the rest of the line unmarked below it; none wraps
# at fewer columns than this.
_NARROWEST_WRAP = 50

# Characters of a line that are kept: more than of all words that an opponent may be sent, and
# than of any command. What reads them may look at a line more than once.
_LONGEST_LINE = 8_000

# Unquoted lines that are looked at; the commands and words of a mail are far fewer.
_LINES_LIMIT = 5_000

_RULE = "_-=~*#+\u2550\u2501 "
_RULE_LENGTH = 10
_HEADER_BLOCK = 8  # kept lines that a header block, with blank lines in it, may take

# What telephones and word processors make of dashes.
_DASHES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\ufe63\uff0d", "-")
)
_SIGNATURE = frozenset(("--", "\u2013", "\u2014"))
_SENT_FROM_LIMIT = 120

_FRAMES = ("--", "===", "***", "___")

_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----"


@dataclass(frozen=True, slots=True)
class NewText:
    """What the writer of a reply added.

    Attributes:
        text: without blank lines around it; ``""`` if nothing was found.
        left_out: more was passed over than lines with a ``>`` before them, the attribution
            above such lines, and a signature below ``-- ``. So an empty `text` is then no proof
            that nothing was said. Of a text that is not empty it says nothing.
    """

    text: str
    left_out: bool


def new_text(text: str) -> str:
    """The part of `text` that its writer added; see `read_new_text`."""
    return read_new_text(text).text


def read_new_text(text: str) -> NewText:
    """The part of `text` that its writer added, and whether there may be more of it.

    Top-posted: what stands above the first quoted line, attribution or divider.
    Where nothing stands above it: what stands below and between the quotes.
    Signatures, list footers, "sent from" lines and PGP armour are dropped, and
    white space at the beginning of a line is kept. Past 5,000 unquoted lines
    reading ends.

    Args:
        text: the text of a mail as `Mail.text` has it, LF between lines.
    """
    scan = _Scan()
    for line in text.split("\n"):
        if not scan.take(line):
            break
    return NewText(scan.result(), scan.left_out)


class _Scan:
    """The lines kept so far, and what the last ones were."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._written = 0  # how many of them are not blank
        self._run = 0  # how many of them stand directly above, without a blank line
        self._below = False  # nothing stood above the first quote
        self._announced = False  # an attribution was read, its quote must follow
        self._quoted = 0  # width of the quoted line directly above
        self._roles: list[tuple[int, str]] = []  # lines that look like a quoted header block
        self._looked_at = 0  # unquoted lines
        self._armour = ""  # "head" or "text" inside a clear-signed message
        self.left_out = False  # see `NewText`

    def result(self) -> str:
        """The kept lines without blank ones around them."""
        lines = self._kept
        start, end = 0, len(lines)
        while start < end and not lines[start]:
            start += 1
        while end > start and not lines[end - 1]:
            end -= 1
        return "\n".join(lines[start:end])

    def take(self, line: str) -> bool:
        """Read one more line; False when nothing below it can be new."""
        shown = line.strip(BLANKS)
        if self._armour:
            if shown and self._armour == "head":
                return self._pass_over()
            self._armour = "text"
            # RFC 9580 section 7.2: dash-escaped lines of a signed text.
            if shown.startswith("- "):
                line, shown = shown[2:], shown[2:].strip(BLANKS)
        if not shown:
            self._blank()
            return True
        folded = shown.casefold()
        if _has_marker(folded):
            return self._end()
        if _is_quoted(shown):
            return self._quote(shown, len(line))
        return self._plain(line, shown, folded)

    def _blank(self) -> None:
        self._kept.append("")
        self._run = 0
        self._quoted = 0

    def _pass_over(self) -> bool:
        """Leave out a line that its writer could have meant, and read on."""
        self.left_out = True
        return True

    def _end(self) -> bool:
        """Leave out this line and all below, some of which its writer could have meant."""
        self.left_out = True
        return False

    def _quote(self, shown: str, width: int) -> bool:
        self.left_out = self.left_out or not shown.startswith(_PLAIN_MARKS)
        if not self._announced:
            above = lines_above_quote(self._directly_above())
            self.left_out = self.left_out or above > 0
            self._drop(above)
        self._announced = False
        if self._written and not self._below:
            return False
        self._below = True
        self._run = 0
        self._quoted = width
        return True

    def _plain(self, line: str, shown: str, folded: str) -> bool:
        self._looked_at += 1
        if self._announced or self._looked_at > _LINES_LIMIT:
            return self._end()  # what an attribution announced is quoted without a mark
        if shown == _SIGNED:
            self._armour = "head"
            return True
        if _is_end(folded):
            return False if shown == "--" else self._end()
        if self._quoted:
            if self._quoted + 1 + _first_word(shown) > _NARROWEST_WRAP:
                self._quoted = _NARROWEST_WRAP  # so is all that follows without a blank line
                return self._pass_over()
            self._quoted = 0
        if _is_sent_from(folded):
            return self._pass_over()
        if self._ends_in_headers(shown) or quotes_behind(shown):
            return self._end()
        above = lines_of_attribution(self._directly_above(), shown)
        if above >= 0:
            lines = (*self._kept[len(self._kept) - above :], shown)
            self.left_out = self.left_out or not any(map(is_dated, lines))
            self._drop(above)
            self._announced = True
            return self._below or not self._written
        self._kept.append(line[:_LONGEST_LINE].rstrip())
        self._written += 1
        self._run += 1
        return True

    def _ends_in_headers(self, shown: str) -> bool:
        """Whether a header block has been read; if so its lines are dropped."""
        role = header_role(shown)
        if not role:
            return False
        here = len(self._kept)
        near = [(at, known) for at, known in self._roles if here - _HEADER_BLOCK < at < here]
        self._roles = [*near, (here, role)]
        roles = {known for _, known in self._roles}
        if len(roles) > 2 or (len(roles) == 2 and "from" in roles):
            del self._kept[self._roles[0][0] :]
            return True
        return False

    def _directly_above(self) -> list[str]:
        count = min(self._run, SPAN + 1)
        return self._kept[-count:] if count else []

    def _drop(self, count: int) -> None:
        """Take back the last `count` lines; none of them is blank."""
        if count:
            del self._kept[-count:]
            self._written -= count
            self._run -= count


def _has_marker(folded: str) -> bool:
    return "above" in folded and _MARKER_WORDS in " ".join(folded.split())


def _is_quoted(shown: str) -> bool:
    if shown.startswith(_QUOTE_MARKS):
        return True
    # "Bob> …" and "BJ>> …"; digits are no initials, so e2>e4 stays a move.
    mark = shown.find(">", 1, _INITIALS_LIMIT)
    return mark > 0 and shown[:mark].translate(_IN_NAMES).isalpha()


def _is_end(folded: str) -> bool:
    """Whether a signature, a divider or a footer begins here."""
    if folded in _SIGNATURE:
        return True
    folded = folded if folded.isascii() else folded.translate(_DASHES)
    if folded.startswith(ENDINGS):
        return True
    if len(folded) >= _RULE_LENGTH and not folded.strip(_RULE):
        return True
    # "-----Original Message-----" in any language, and with rules of any kind around it
    return len(folded) > 6 and folded.startswith(_FRAMES) and folded.endswith(_FRAMES)


def _is_sent_from(folded: str) -> bool:
    if len(folded) > _SENT_FROM_LIMIT:
        return False
    if folded.startswith(SENT_FROM) or folded.endswith(SENT_FROM_TAILS):
        return True
    return any(name in folded and any(map(folded.count, places)) for name, places in ADVERTISED)


def _first_word(shown: str) -> int:
    end = shown.find(" ")
    return end if end >= 0 else len(shown)
