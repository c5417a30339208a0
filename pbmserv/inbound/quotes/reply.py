"""Extracts the new text of a reply, without anything that the reply quotes.

It makes one pass over the lines and applies no pattern to more than a few of them, because patterns
over a whole mail take quadratic time on crafted input. A line that could be a quote is left out: to
lose a remark is a nuisance, but to carry out a quoted command is a forged move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pbmserv.inbound.quotes.attributions import (
    DATED,
    SPAN,
    announces,
    continues_attribution,
    lines_above_quote,
    lines_of_attribution,
    lines_of_stamp,
    mend_attributions,
    quotes_behind,
)
from pbmserv.inbound.quotes.line_signs import (
    BLANKS,
    PLAIN_MARKS,
    ends_text,
    has_marker,
    header_role,
    is_address,
    is_label,
    is_of_a_header,
    is_quoted,
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

# A program that wraps a quoted line leaves its rest unmarked on the next line. No program wraps at
# fewer columns than this.
_NARROWEST_WRAP = 50

# Characters of a line that are kept: more than any command, and more than the words that may be
# sent to an opponent.
_LONGEST_LINE = 8_000

# Lines between two checks of the time limit.
_LINES_BETWEEN_CHECKS = 50

# Unquoted lines that are read; the commands and words of a mail take far fewer.
_LINES_LIMIT = 5_000

_HEADER_BLOCK = 8  # lines of a header block, including blank ones
_MOST_GREETINGS = 2
_LONGEST_GREETING = 60
_GREETING_WORDS = 4
_TOP_LINES = 5  # lines that may be commands or a move, so marks of bold letters are removed

_CELL = r"[+/!?-]?(?:[a-z]?\d{1,3}|[a-z]|\?)"
WORDLESS = re.compile(rf"{_CELL}(?:[ ,]{{1,3}}{_CELL}){{0,30}}", re.ASCII)
"""A line of cells and numbers without a word, such as a move. Most replies begin with one, and it
needs no other test."""

_SIGNED = "-----BEGIN PGP SIGNED MESSAGE-----"


@dataclass(frozen=True, slots=True)
class NewText:
    """The new text of a reply.

    Attributes:
        text: the text without blank lines around it; ``""`` if none was found.
        left_out: lines were left out that could be new, so an empty `text` does not prove that the
            reply says nothing. Lines with a ``>`` before them, the attribution above such lines,
            and a signature below ``-- `` are surely not new.
    """

    text: str
    left_out: bool


def read_new_text(text: str, own: str = "") -> NewText:
    """Return the new text of a reply, and whether there may be more of it.

    The new text is above the first quoted line, attribution or divider. If only a greeting is above
    it, the new text is below and between the quotes. Signatures, list footers, "sent from" lines
    and PGP armour are dropped; white space at the beginning of a line is kept. Reading ends after
    `_LINES_LIMIT` unquoted lines.

    Args:
        text: the text of a mail as in `Mail.text`, with LF between lines.
        own: the writer's address. A line with it, except the first one, belongs to a quoted header
            block, and reading ends there. ``""`` turns this off.
    """
    scan = _Scan(own.casefold())
    for number, line in enumerate(mend_attributions(text.split("\n"))):
        if number % _LINES_BETWEEN_CHECKS == 0:
            reading_time.check()
        if not scan.take(line):
            break
    scan.finish()
    kept = "\n".join(scan.kept).strip("\n") if scan.written else scan.greeting
    return NewText(kept, scan.left_out)


@dataclass(slots=True)
class _Scan:
    """The state of a pass over the lines of a mail.

    Attributes:
        greeting: the only text above the first quote.
        kept: lines that may be new so far, including blank ones.
        written: number of kept lines that are not blank.
        left_out: see `NewText`.
        _run: number of kept lines directly above, since the last blank line.
        _below: there was no new text above the first quote, so it may come below.
        _announced: an attribution was read, so a quote must follow.
        _quoted: width of the quoted line directly above.
        _roles: header fields among the kept lines, as places and roles.
        _unquoted: number of unquoted lines that were read.
        _programs: lines that a mail program may have added: place in `kept`, certainty and text.
        _armour: ``"head"`` or ``"text"`` inside a clear-signed message.
    """

    _own: str
    greeting: str = ""
    kept: list[str] = field(default_factory=list)
    written: int = 0
    left_out: bool = False
    _run: int = 0
    _below: bool = False
    _announced: bool = False
    _quoted: int = 0
    _roles: list[tuple[int, str]] = field(default_factory=list)
    _unquoted: int = 0
    _programs: dict[int, tuple[str, str]] = field(default_factory=dict)
    _armour: str = ""

    def take(self, line: str) -> bool:
        """Read one more line; return False if nothing below it can be new."""
        shown = line.strip(BLANKS)
        if self._armour:
            if shown and self._armour == "head":
                return self._skip()
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
        # Lines of a table look quoted, too. If one of them has the marker of our letter, the letter
        # goes on below it without marks.
        if is_quoted(shown) and (not marked or shown.startswith(PLAIN_MARKS)):
            return self._quote(shown, len(line))
        if self._announced and continues_attribution(shown):
            return True
        # A quote below an attribution may be unmarked.
        if marked or self._announced or self._unquoted == _LINES_LIMIT:
            return self._end()
        self._unquoted += 1
        if shown == _SIGNED:
            self._armour = "head"
            return True
        return self._plain(line, shown, folded)

    def _skip(self) -> bool:
        """Leave out a line that could be new, and read on."""
        self.left_out = True
        return True

    def _end(self) -> bool:
        """Leave out this line and all lines below it; some of them could be new."""
        self.left_out = True
        return False

    def _quote(self, shown: str, width: int) -> bool:
        """Read a quoted line, and drop the lines above that announce it."""
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
        """Read an unquoted line: keep it, or find that the new text ends above it."""
        has_words = WORDLESS.fullmatch(folded) is None
        if has_words and ends_text(folded):
            return False if shown == "--" else self._end()
        if self._quoted and self._quoted + 1 + _first_word(shown) > _NARROWEST_WRAP:
            self._quoted = _NARROWEST_WRAP  # the same holds for lines up to the next blank one
            return self._skip()
        self._quoted = 0
        if has_words:
            role = header_role(shown)
            certainty = "" if role else program_line(folded)
            if certainty or (self._programs and self._follows_program(shown)):
                self._programs[len(self.kept)] = (certainty, line[:_LONGEST_LINE].rstrip())
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
        """Return whether a line is a link directly below a line that a program may have added."""
        return is_link(shown) and max(self._programs) == len(self.kept) - 1

    def finish(self) -> None:
        """Decide on the lines that a program may have added, and drop a signature at the end.

        A line with words below it is a person's and is kept after all. A line that a program surely
        added is kept only if words follow on the next line.
        """
        last = max((at for at, line in enumerate(self.kept) if line), default=-1)
        for at, (certainty, line) in self._programs.items():
            if at < last and (certainty != SURE or self.kept[at + 1]):
                self.kept[at] = line
                self.written += 1
            else:
                self.left_out = True
        del self.kept[last + 1 :]
        signature = lines_of_signature(self.kept) if self.kept else 0
        if signature:
            self.left_out = True
            self.written -= sum(1 for line in self.kept[-signature:] if line)
            del self.kept[-signature:]

    def _nothing_above(self) -> bool:
        """Return whether there is only a greeting above the first quote, and set it aside."""
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
        """Drop the lines that announce a quote across blank lines."""
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
        """Return whether the line is of a header block of an unknown form, and drop the block.

        Evidence is the writer's own address, a sender with an address, or a label alone on its line
        below an address.
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
        """Return whether this line completes a header block, and drop the block."""
        end = len(self.kept)
        near = [(at, earlier) for at, earlier in self._roles if end - _HEADER_BLOCK < at < end]
        self._roles = [*near, (end, role)]
        roles = {role for _, role in self._roles}
        if len(roles) > 2 or (len(roles) == 2 and "from" in roles):
            del self.kept[self._roles[0][0] :]
            return True
        return False

    def _drop(self, count: int) -> None:
        """Drop the last `count` kept lines (at least one), none of which is blank."""
        del self.kept[-count:]
        self.written -= count
        self._run -= count


def _first_word(shown: str) -> int:
    end = shown.find(" ")
    return end if end >= 0 else len(shown)
