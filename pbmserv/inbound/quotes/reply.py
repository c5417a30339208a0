"""Extracts the new text of a reply, without anything that the reply quotes.

It makes one pass over the lines and applies no pattern to more than a few of them, because patterns
over a whole mail take quadratic time on crafted input. A line that could be a quote is left out: to
lose a remark is a nuisance, but to carry out a quoted command is a forged move.

Each line is the first of these that it can be (`_Scan.read` has the first five, `_read_unquoted`
the others):

1. blank;
2. marked as quoted. The lines above that announce the quote are dropped. If there is new text
   above, other than a greeting, reading ends;
3. the rest of an attribution that a program has wrapped before its colon or date;
4. the first line of an unmarked quote, since it is below an attribution or is our own marker.
   Reading ends;
5. the beginning of a text signed by PGP. The header below it is left out;
6. a rule, a footer, or the "-- " above a signature. Reading ends;
7. the rest of a quoted line that a program has wrapped;
8. a move: it is kept;
9. a line that a mail program may have added ("Sent from my iPhone"). It is set aside, because a
   person may have written it: only the lines below show that;
10. the line that completes a header block ("From:", "Sent:"), or an attribution with the quote on
    the same line. The block is dropped, and reading ends;
11. the last line of an attribution. The attribution is dropped, and a quote must follow;
12. a line of a header block of an unknown form. The block is dropped, and reading ends;
13. new text: it is kept.

At the end, lines of mail programs and a signature with a phone number are dropped. docs/reading.md
has an example of each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pbmserv.inbound.quotes.attributions import (
    DATED,
    SPAN,
    announces_quote,
    continues_attribution,
    has_quote_behind_attribution,
    lines_announcing_quote,
    lines_of_attribution,
    lines_of_stamp,
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
from pbmserv.inbound.quotes.program_lines import SURE, is_link, program_line
from pbmserv.inbound.quotes.signatures import lines_of_signature
from pbmserv.inbound.quotes.wrapped_addresses import mend_attributions
from pbmserv.mail import reading_time

_NARROWEST_WRAP = 50
"""Fewest columns at which a program wraps lines. If it wraps a quoted line, the rest is unmarked on
the next line."""

_LONGEST_LINE = 8_000
"""Characters of a line that are kept: more than any command, and more than the words that may be
sent to an opponent."""

_LINES_BETWEEN_CHECKS = 50
"""Lines between two checks of the time limit."""

_MOST_UNQUOTED = 5_000
"""Unquoted lines that are read; the commands and words of a mail take far fewer."""

_HEADER_BLOCK = 8
"""Lines of a header block, including blank ones."""

_MOST_GREETINGS = 2
_LONGEST_GREETING = 60
_MOST_GREETING_WORDS = 4
_TOP_LINES = 5
"""Lines that may be commands or a move, so that marks of bold letters are removed."""

_CELL = r"[+/!?-]?(?:[a-z]?\d{1,3}|[a-z]|\?)"  # "g", "14", "+b2", "?"
_WORDLESS = re.compile(rf"{_CELL}(?:[ ,]{{1,3}}{_CELL}){{0,30}}", re.ASCII)
"""A line of cells and numbers without a word, such as "g,+b2". Most replies begin with one, and it
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


def read_new_text(text: str, writer: str = "") -> NewText:
    """Return the new text of a reply, and whether there may be more of it.

    The new text is above the first quoted line, attribution or divider. If only a greeting is above
    it, the new text is below and between the quotes. Signatures, list footers, "sent from" lines
    and PGP armour are dropped; white space at the beginning of a line is kept. Reading ends after
    `_MOST_UNQUOTED` unquoted lines.

    Args:
        text: the text of a mail as in `Mail.text`, with LF between lines.
        writer: the writer's address. A line with it, except the first one, belongs to a quoted
            header block, and reading ends there. ``""`` turns this off.
    """
    scan = _Scan(writer.casefold())
    for number, line in enumerate(mend_attributions(text.split("\n"))):
        if number % _LINES_BETWEEN_CHECKS == 0:
            reading_time.check()
        if not scan.read(line):
            break
    return scan.result()


@dataclass(slots=True)
class _Scan:
    """The state of a pass over the lines of a mail.

    The methods that read a line return whether the lines below it can still be new.

    Attributes:
        _writer: the writer's address, casefolded; ``""`` if it is not looked for.
        _kept: lines that may be new so far, including blank ones.
        _written: number of kept lines that are not blank.
        _in_a_row: number of kept lines directly above, since the last blank line.
        _left_out: see `NewText`.
        _greeting: the only text above the first quote.
        _is_below_quote: there was no new text above the first quote, so it may come below.
        _is_announced: an attribution was read, so a quote must follow.
        _quoted_width: characters of the quoted line directly above; 0 if there is none.
        _unquoted: number of unquoted lines that were read.
        _header_fields: header fields among the kept lines, as places and roles.
        _program_lines: lines that a mail program may have added: place in `_kept`, certainty and
            text. `_kept` has a blank line in their places.
        _armour: ``"head"`` or ``"text"`` inside a clear-signed message.
    """

    _writer: str
    _kept: list[str] = field(default_factory=list)
    _written: int = 0
    _in_a_row: int = 0
    _left_out: bool = False
    _greeting: str = ""
    _is_below_quote: bool = False
    _is_announced: bool = False
    _quoted_width: int = 0
    _unquoted: int = 0
    _header_fields: list[tuple[int, str]] = field(default_factory=list)
    _program_lines: dict[int, tuple[str, str]] = field(default_factory=dict)
    _armour: str = ""

    def read(self, line: str) -> bool:
        """Read one more line."""
        shown = line.strip(BLANKS)
        if self._armour:
            if shown and self._armour == "head":
                return self._skip()
            self._armour = "text"
            # RFC 9580 section 7.2: dash-escaped lines of a signed text.
            if shown.startswith("- "):
                line, shown = shown[2:], shown[2:].strip(BLANKS)
        if not shown:
            self._kept.append("")
            self._in_a_row = self._quoted_width = 0
            return True
        folded = shown.casefold()
        is_marker = has_marker(folded)
        # Lines of a table look quoted, too. If one of them has the marker of our letter, the letter
        # goes on below it without marks.
        if is_quoted(shown) and (not is_marker or shown.startswith(PLAIN_MARKS)):
            return self._read_quoted(shown, len(line))
        if self._is_announced and continues_attribution(shown):
            return True
        # A quote below an attribution may be unmarked.
        if is_marker or self._is_announced or self._unquoted == _MOST_UNQUOTED:
            return self._end()
        self._unquoted += 1
        if shown == _SIGNED:
            self._armour = "head"
            return True
        return self._read_unquoted(line, shown, folded)

    def _skip(self) -> bool:
        """Leave out a line that could be new, and read on."""
        self._left_out = True
        return True

    def _end(self) -> bool:
        """Leave out this line and all lines below it; some of them could be new."""
        self._left_out = True
        return False

    def _keep(self, line: str) -> bool:
        """Keep a line as new text."""
        self._kept.append(line[:_LONGEST_LINE].rstrip())
        self._written += 1
        self._in_a_row += 1
        return True

    # -- quoted lines ----------------------------------------------------------------------------

    def _read_quoted(self, shown: str, width: int) -> bool:
        """Read a quoted line, and drop the lines above that announce it."""
        self._left_out |= not shown.startswith(PLAIN_MARKS)
        if not self._is_announced:
            if self._in_a_row:
                count = lines_announcing_quote(self._lines_in_a_row(SPAN + 1))
                if count:
                    self._left_out = True
                    self._drop(count)
            if not self._in_a_row:
                self._drop_announcement_above_blank_lines()
        self._is_announced = False
        if not self._is_nothing_above():
            return False
        self._is_below_quote = True
        self._in_a_row = 0
        self._quoted_width = width
        return True

    def _lines_in_a_row(self, most: int) -> list[str]:
        """Return the kept lines directly above, without a blank line between them."""
        return self._kept[len(self._kept) - min(self._in_a_row, most) :]

    def _drop(self, count: int) -> None:
        """Drop the last `count` kept lines (at least one), none of which is blank."""
        del self._kept[-count:]
        self._written -= count
        self._in_a_row -= count

    def _drop_announcement_above_blank_lines(self) -> None:
        """Drop the lines that announce a quote below blank lines."""
        last = len(self._kept) - 1
        highest = last - SPAN
        while last > highest and last >= 0 and not self._kept[last]:
            last -= 1
        if last < 0:
            return
        stamp = lines_of_stamp(self._kept[max(0, last + 1 - SPAN) : last + 1])
        count = stamp or int(announces_quote(self._kept[last]))
        if count:
            self._left_out |= DATED.search(self._kept[last]) is None
            del self._kept[last + 1 - count :]
            self._written -= count

    def _is_nothing_above(self) -> bool:
        """Return whether only a greeting is above the first quote, and set the greeting aside."""
        if self._is_below_quote or not self._written:
            return True
        written = [line for line in self._kept if line]
        if len(written) > _MOST_GREETINGS or not all(map(_is_greeting, written)):
            return False
        self._greeting = "\n".join(written)
        self._kept.clear()
        self._program_lines.clear()
        self._header_fields.clear()
        self._written = self._in_a_row = 0
        return True

    # -- unquoted lines --------------------------------------------------------------------------

    def _read_unquoted(self, line: str, shown: str, folded: str) -> bool:
        """Read an unquoted line: keep it, or find that the new text ends above it."""
        has_words = _WORDLESS.fullmatch(folded) is None
        if has_words and ends_text(folded):
            return False if shown == "--" else self._end()
        if self._quoted_width and self._is_rest_of_quoted_line(shown):
            return self._skip()
        if not has_words:
            return self._keep(line)
        role = header_role(shown)
        certainty = "" if role else program_line(folded)
        if certainty or (self._program_lines and self._is_link_of_program(shown)):
            self._set_aside(line, certainty)
            return True
        if (role and self._ends_in_headers(role)) or has_quote_behind_attribution(shown):
            return self._end()
        lines_above = self._lines_in_a_row(SPAN)
        count = lines_of_attribution(lines_above, shown)
        if count >= 0:
            return self._read_attribution(lines_above[len(lines_above) - count :], shown)
        if self._is_in_header_block(role, shown, folded):
            return self._end()
        return self._keep(unadorned(line[:_LONGEST_LINE]) if self._written < _TOP_LINES else line)

    def _is_rest_of_quoted_line(self, shown: str) -> bool:
        """Return whether a program has wrapped the quoted line above, and this is its rest.

        It is, if its first word did not fit into the line above. The same then holds for all lines
        down to the next blank one.
        """
        if self._quoted_width + 1 + _length_of_first_word(shown) > _NARROWEST_WRAP:
            self._quoted_width = _NARROWEST_WRAP
            return True
        self._quoted_width = 0
        return False

    def _read_attribution(self, lines_above: Sequence[str], shown: str) -> bool:
        """Drop an attribution: lines that are kept already, and its last line `shown`."""
        self._left_out |= DATED.search("\n".join((*lines_above, shown))) is None
        if lines_above:
            self._drop(len(lines_above))
        self._is_announced = True
        return self._is_nothing_above()

    # -- lines of mail programs ------------------------------------------------------------------

    def _set_aside(self, line: str, certainty: str) -> None:
        """Put a line aside that a mail program may have added, until the lines below are known."""
        self._program_lines[len(self._kept)] = (certainty, line[:_LONGEST_LINE].rstrip())
        self._kept.append("")
        self._in_a_row = 0

    def _is_link_of_program(self, shown: str) -> bool:
        """Return whether a line is a link directly below a line that a program may have added."""
        return is_link(shown) and max(self._program_lines) == len(self._kept) - 1

    # -- header blocks ---------------------------------------------------------------------------

    def _ends_in_headers(self, role: str) -> bool:
        """Return whether this line completes a header block, and drop the block.

        Three fields are a block, or two of which one is the sender.
        """
        place = len(self._kept)
        near = [field for field in self._header_fields if place - _HEADER_BLOCK < field[0] < place]
        self._header_fields = [*near, (place, role)]
        roles = {role for _, role in self._header_fields}
        if len(roles) > 2 or (len(roles) == 2 and "from" in roles):
            del self._kept[self._header_fields[0][0] :]
            return True
        return False

    def _is_in_header_block(self, role: str, shown: str, folded: str) -> bool:
        """Return whether the line is of a header block of an unknown form, and drop the block.

        Evidence is the writer's own address, a sender with an address, or a label alone on its line
        below an address.
        """
        names_writer = bool(self._writer and self._written) and self._writer in folded
        if not names_writer and not (role == "from" and "@" in shown):
            near = self._kept[-_HEADER_BLOCK:]
            if not is_label(shown) or not any(map(is_address, near)):
                return False
        while self._kept and (not self._kept[-1] or is_of_a_header(self._kept[-1])):
            if self._kept[-1]:
                self._written -= 1
            del self._kept[-1]
        return True

    # -- the end ---------------------------------------------------------------------------------

    def result(self) -> NewText:
        """Return the new text after the last line."""
        self._restore_program_lines()
        self._drop_signature()
        text = "\n".join(self._kept).strip("\n") if self._written else self._greeting
        return NewText(text, self._left_out)

    def _restore_program_lines(self) -> None:
        """Keep lines that a program may have added, if words follow below; drop the others.

        A line that a program surely added is kept only if words follow on the next line.
        """
        last = max((place for place, line in enumerate(self._kept) if line), default=-1)
        for place, (certainty, line) in self._program_lines.items():
            if place < last and (certainty != SURE or self._kept[place + 1]):
                self._kept[place] = line
                self._written += 1
            else:
                self._left_out = True
        del self._kept[last + 1 :]

    def _drop_signature(self) -> None:
        """Drop a signature with a phone number at the end of the text."""
        count = lines_of_signature(self._kept) if self._kept else 0
        if count:
            self._left_out = True
            self._written -= sum(1 for line in self._kept[-count:] if line)
            del self._kept[-count:]


def _is_greeting(line: str) -> bool:
    """Return whether a line is a greeting and says nothing else: "Hi Bob,"."""
    words = line.casefold().rstrip("!,.:;\uff0c\uff01\u3002 ").split()
    is_short = len(line) <= _LONGEST_GREETING and 0 < len(words) <= _MOST_GREETING_WORDS
    has_digit = any(map(str.isdigit, line))
    return is_short and not has_digit and words[0].rstrip(",!") in GREETINGS


def _length_of_first_word(shown: str) -> int:
    end = shown.find(" ")
    return end if end >= 0 else len(shown)
