"""What the writer of a reply added, without anything that the reply quotes.

One pass over the lines, with no regular expression over more than a few of
them: cutting replies out of mail by patterns goes quadratic on crafted input.
Where a line could be quoted it is left out: a lost remark is a nuisance, a
quoted command that is carried out is a forged move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pbmserv.inbound.quotes.line_signs import (
    BLANKS,
    DATED,
    PLAIN_MARKS,
    SPAN,
    announces,
    continues_attribution,
    ends_text,
    has_marker,
    header_role,
    is_address,
    is_label,
    is_of_a_header,
    is_quoted,
    lines_above_quote,
    lines_of_attribution,
    lines_of_stamp,
    mend_attributions,
    quotes_behind,
    unadorned,
)
from pbmserv.inbound.quotes.phrases import GREETINGS
from pbmserv.inbound.quotes.signatures import (
    SURE,
    is_link,
    lines_of_signature,
    program_line,
)
from pbmserv.mail import reading_time

# A client that wraps a quote leaves the rest of the line unmarked below it; none wraps
# at fewer columns than this.
_NARROWEST_WRAP = 50

# Characters of a line that are kept: more than of all words that an opponent may be sent, and
# than of any command. What reads them may look at a line more than once.
_LONGEST_LINE = 8_000

# Lines that are read between two looks at the time.
_LINES_BETWEEN_CHECKS = 50

# Unquoted lines that are looked at; the commands and words of a mail are far fewer.
_LINES_LIMIT = 5_000

_HEADER_BLOCK = 8  # kept lines that a header block, with blank lines in it, may take
_MOST_GREETINGS = 2
_LONGEST_GREETING = 60
_GREETING_WORDS = 4
_TOP_LINES = 5  # that may be commands or a move, so what programs make of bold letters goes there

_CELL = r"[+/!?-]?(?:[a-z]?\d{1,3}|[a-z]|\?)"
WORDLESS = re.compile(rf"{_CELL}(?:[ ,]{{1,3}}{_CELL}){{0,30}}", re.ASCII)
"""A move, as nearly all replies begin: letters and numbers without a word among them, so that it
neither quotes, ends nor praises anything."""

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


def new_text(text: str, own: str = "") -> str:
    """The part of `text` that its writer added; see `read_new_text`."""
    return read_new_text(text, own).text


def read_new_text(text: str, own: str = "") -> NewText:
    """The part of `text` that its writer added, and whether there may be more of it.

    Top-posted: what stands above the first quoted line, attribution or divider.
    Where nothing but a greeting stands above it: what stands below and between the quotes.
    Signatures, list footers, "sent from" lines and PGP armour are dropped, and
    white space at the beginning of a line is kept. Past 5,000 unquoted lines
    reading ends.

    Args:
        text: the text of a mail as `Mail.text` has it, LF between lines.
        own: the writer's address. A line with it below the first one belongs to a header
            block in whatever form, and reading ends there; ``""``: it may stand anywhere.
    """
    scan = _Scan(own.casefold())
    for number, line in enumerate(mend_attributions(text.split("\n"))):
        if number % _LINES_BETWEEN_CHECKS == 0:
            reading_time.check()
        if not scan.take(line):
            break
    scan.finish()
    said = "\n".join(scan.kept).strip("\n") if scan.written else scan.greeting
    return NewText(said, scan.left_out)


@dataclass(slots=True)
class _Scan:
    """The lines kept so far, and what the last ones were."""

    _own: str
    greeting: str = ""  # stood above the first quote, alone
    kept: list[str] = field(default_factory=list)
    written: int = 0  # how many of them are not blank
    _run: int = 0  # how many of them stand directly above, without a blank line
    _below: bool = False  # nothing stood above the first quote
    _announced: bool = False  # an attribution was read, its quote must follow
    _quoted: int = 0  # width of the quoted line directly above
    _roles: list[tuple[int, str]] = field(default_factory=list)  # like a quoted header block's
    _looked_at: int = 0  # unquoted lines
    # Lines that programs may have added, by their places in `kept`, and how sure that is.
    _programs: dict[int, tuple[str, str]] = field(default_factory=dict)
    _armour: str = ""  # "head" or "text" inside a clear-signed message
    left_out: bool = False  # see `NewText`

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
            self.kept.append("")
            self._run = self._quoted = 0
            return True
        folded = shown.casefold()
        marked = "above" in folded and has_marker(folded)
        # A table's lines look like quote marks, too, and below them our letter goes on without.
        if is_quoted(shown) and (not marked or shown.startswith(PLAIN_MARKS)):
            return self._quote(shown, len(line))
        if self._announced and continues_attribution(shown):
            return True
        # What an attribution announced needs no mark.
        if marked or self._announced or self._looked_at == _LINES_LIMIT:
            return self._end()
        self._looked_at += 1
        if shown == _SIGNED:
            self._armour = "head"
            return True
        return self._plain(line, shown, folded)

    def _pass_over(self) -> bool:
        """Leave out a line that its writer could have meant, and read on."""
        self.left_out = True
        return True

    def _end(self) -> bool:
        """Leave out this line and all below, some of which its writer could have meant."""
        self.left_out = True
        return False

    def _quote(self, shown: str, width: int) -> bool:
        self.left_out = self.left_out or not shown.startswith(PLAIN_MARKS)
        if not self._announced:
            above = lines_above_quote(self.kept[len(self.kept) - min(self._run, SPAN + 1) :])
            self.left_out = self.left_out or above > 0
            if above:
                self._drop(above)
            if not self._run:
                self._drop_announcement()
        self._announced = False
        if not self._nothing_above():
            return False
        self._below = True
        self._run = 0
        self._quoted = width
        return True

    def _plain(self, line: str, shown: str, folded: str) -> bool:
        speaks = WORDLESS.fullmatch(folded) is None
        if speaks and ends_text(folded):
            return False if shown == "--" else self._end()
        if self._quoted and self._quoted + 1 + _first_word(shown) > _NARROWEST_WRAP:
            self._quoted = _NARROWEST_WRAP  # so is all that follows without a blank line
            return self._pass_over()
        self._quoted = 0
        if speaks:
            role = header_role(shown)
            sign = "" if role else program_line(folded)
            if sign or (self._programs and self._follows_program(shown)):
                self._programs[len(self.kept)] = (sign, line[:_LONGEST_LINE].rstrip())
                self.kept.append("")
                self._run = 0
                return True
            if (role and self._ends_in_headers(role)) or (": " in shown and quotes_behind(shown)):
                return self._end()
            near = self.kept[len(self.kept) - min(self._run, SPAN) :]
            above = lines_of_attribution(near, shown)
            if above >= 0:
                announcing = "\n".join((*near[len(near) - above :], shown))
                self.left_out = self.left_out or DATED.search(announcing) is None
                if above:
                    self._drop(above)
                self._announced = True
                return self._nothing_above()
            if self._is_in_block(role, shown, folded):
                return self._end()
            line = unadorned(line[:_LONGEST_LINE]) if self.written < _TOP_LINES else line
        self.kept.append(line[:_LONGEST_LINE].rstrip())
        self.written += 1
        self._run += 1
        return True

    def _follows_program(self, shown: str) -> bool:
        """Whether a line is the link below a line that a program may have added."""
        return is_link(shown) and max(self._programs) == len(self.kept) - 1

    def finish(self) -> None:
        """Decide on the lines that may be a program's, and drop a signature at the end.

        Lines with words below them are a person's, so they return to their places. A line that a
        program surely wrote does so only if words stand right below it.
        """
        last = max((at for at, line in enumerate(self.kept) if line), default=-1)
        for at, (sign, line) in self._programs.items():
            if at < last and (sign != SURE or self.kept[at + 1]):
                self.kept[at] = line
                self.written += 1
            else:
                self.left_out = True
        del self.kept[last + 1 :]
        signed = lines_of_signature(self.kept) if self.kept else 0
        if signed:
            self.left_out = True
            self.written -= sum(1 for line in self.kept[-signed:] if line)
            del self.kept[-signed:]

    def _nothing_above(self) -> bool:
        """Whether only a greeting stands above the first quote; it is set aside then."""
        if self._below or not self.written:
            return True
        written = [line for line in self.kept if line]
        if len(written) > _MOST_GREETINGS:
            return False
        for line in written:
            words = line.casefold().rstrip("!,.:;\uff0c\uff01\u3002 ").split()
            is_short = len(line) <= _LONGEST_GREETING and 0 < len(words) <= _GREETING_WORDS
            says_more = any(map(str.isdigit, line))
            if says_more or not is_short or words[0].rstrip(",!") not in GREETINGS:
                return False
        self.greeting = "\n".join(written)
        self.kept.clear()
        self._programs.clear()
        self._roles.clear()
        self.written = self._run = 0
        return True

    def _drop_announcement(self) -> None:
        """Take back what announces a quote across blank lines."""
        at = len(self.kept) - 1
        first = at - SPAN
        while at > first and at >= 0 and not self.kept[at]:
            at -= 1
        if at < 0:
            return
        stamp = lines_of_stamp(self.kept[max(0, at + 1 - SPAN) : at + 1])
        count = stamp or int(announces(self.kept[at]))
        if count:
            self.left_out = self.left_out or DATED.search(self.kept[at]) is None
            del self.kept[at + 1 - count :]
            self.written -= count

    def _is_in_block(self, role: str, shown: str, folded: str) -> bool:
        """Whether a header block of an unknown form has been read; if so its lines are dropped.

        It has the writer's own address in it, or who wrote to whom, with an address or above a
        label that stands alone.
        """
        own = bool(self._own and self.written) and self._own in folded
        if not own and not (role == "from" and "@" in shown):
            near = self.kept[-_HEADER_BLOCK:]
            if not is_label(shown) or not any(map(is_address, near)):
                return False
        while self.kept and (not self.kept[-1] or is_of_a_header(self.kept[-1])):
            if self.kept[-1]:
                self.written -= 1
            del self.kept[-1]
        return True

    def _ends_in_headers(self, role: str) -> bool:
        """Whether a header block has been read; if so its lines are dropped."""
        here = len(self.kept)
        near = [(at, known) for at, known in self._roles if here - _HEADER_BLOCK < at < here]
        self._roles = [*near, (here, role)]
        roles = {known for _, known in self._roles}
        if len(roles) > 2 or (len(roles) == 2 and "from" in roles):
            del self.kept[self._roles[0][0] :]
            return True
        return False

    def _drop(self, count: int) -> None:
        """Take back the last `count` lines, at least one; none of them is blank."""
        del self.kept[-count:]
        self.written -= count
        self._run -= count


def _first_word(shown: str) -> int:
    end = shown.find(" ")
    return end if end >= 0 else len(shown)
