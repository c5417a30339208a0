"""Keeps summaries short: leaves out repeats, and the parts for which there is no room."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pbmserv.letters.lengths import Lengths
from pbmserv.letters.rendering import LetterTexts


def without_repeats(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the parts of a summary that equal an earlier one.

    ``see`` of a line becomes the number of the line that shows the part, or 0 if none is left out.
    Parts with boards stay: they are drawn once anyway, at the last command.
    """
    first: dict[str, int] = {}
    shortened = []
    for number, line in enumerate(lines, 1):
        parts, see = [], 0
        for part in line["parts"]:
            earlier = first.setdefault(json.dumps(part, sort_keys=True), number)
            if earlier == number or part["board"] is not None:
                parts.append(part)
            else:
                see = earlier
        shortened.append({**line, "parts": parts, "see": see})
    return shortened


def cut_to_room(lines: Sequence[Mapping[str, Any]], most: Lengths) -> list[dict[str, Any]]:
    """Keep the parts of the first lines, as far as a letter has room for them.

    ``cut`` of a line says whether its parts were left out.

    Args:
        most: lengths of all parts together.
    """
    text, html = most.text, most.html
    shortened = []
    is_first = True
    for line in lines:
        parts: Sequence[LetterTexts] = line["parts"]
        heads = sum(len(f"{line['echo']}{part.headline}".encode()) for part in parts)
        text -= heads + sum(part.lengths.text for part in parts)
        html -= heads + sum(part.lengths.html for part in parts)
        is_cut = bool(parts) and not is_first and min(text, html) < 0
        shortened.append({**line, "parts": [] if is_cut else parts, "cut": is_cut})
        is_first = is_first and not parts
    return shortened


def seated_boards(lines: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the boards in a summary at which its reader sits; empty if there is only one."""
    parts = [part for line in lines for part in line["parts"]]
    boards = {part["board"] for part in parts if part["seat"] is not None}
    return sorted(boards - {None}) if len(boards) > 1 else []
