"""Mends attributions that a mail program wrapped before the ``>`` of an address.

    On Mon, 3 Mar 2014 at 10:00, Bob <b@example.org
    > wrote:

The second line looks like a quoted one, and the first one like a person's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.inbound.quotes.attributions import LONGEST, SPAN, lines_of_attribution
from pbmserv.inbound.quotes.line_signs import BLANKS, is_quoted

_NO_ADDRESS = re.compile(r"[\s<>]")
"""A character that no address has."""


def mend_attributions(lines: Sequence[str]) -> list[str]:
    """Return the lines of a mail with each ``>`` that ends an address moved back to the address.

    A ``>`` is moved only if that completes an attribution, so a quoted line never loses its mark.
    """
    mended: list[str] = []
    for number, line in enumerate(lines):
        shown = line.strip(BLANKS) if ">" in line else ""
        closing = _closing_marks(mended, shown) if shown.startswith(">") else 0
        if not closing:
            mended.append(line)
            continue
        above = [*mended[-SPAN:-1], mended[-1].rstrip() + ">" * closing]
        rest = shown[closing:].strip(BLANKS)
        if not _is_completed(above, rest, lines[number + 1 : number + SPAN]):
            mended.append(line)
            continue
        mended[-1] = above[-1]
        if rest:
            mended.append(rest)
    return mended


def _closing_marks(above: Sequence[str], shown: str) -> int:
    """Count the ``>`` at the beginning of a line that close addresses in the line above."""
    if not above or not above[-1] or len(above[-1]) > LONGEST or is_quoted(above[-1].strip()):
        return 0
    line = above[-1]
    if len(above) > 1 and above[-2].rstrip(BLANKS).endswith("<"):
        line = f"<{line.strip(BLANKS)}"
    _, bracket, address = line.rstrip(f"{BLANKS}>").rpartition("<")
    if not bracket or "@" not in address or _NO_ADDRESS.search(address):
        return 0
    near = "".join(above[-SPAN:])
    opened = near.count("<") - near.count(">")
    return min(opened, len(shown) - len(shown.lstrip(">")))


def _is_completed(above: Sequence[str], rest: str, below: Sequence[str]) -> bool:
    """Return whether `rest`, or a line soon below it, ends an attribution that began in `above`."""
    read = [*above]
    for line in (rest, *below):
        shown = line.strip(BLANKS)
        if shown.startswith(">") and _closing_marks(read, shown):
            shown = shown.lstrip(">").strip(BLANKS)
        if shown and not is_quoted(shown):
            if lines_of_attribution(read, shown) >= len(read) - len(above) + 1:
                return True
        elif line is not rest:
            return False
        if shown:
            read.append(shown)
    return False
