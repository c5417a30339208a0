"""Turns format=flowed, text/enriched and text/richtext into plain text."""

from __future__ import annotations

import re

ENRICHED_TYPES = frozenset(("text/enriched", "text/richtext"))
"""Text types with marks for bold letters and the like (RFC 1896, RFC 1341)."""

_MARK = re.compile(r"<<|</?[a-z0-9-]{1,60}>|\n+", re.IGNORECASE)
"""A mark, "<bold>" or "</bold>", an escaped "<", or line ends, which mean something else there."""

_HIDDEN = re.compile(r"<(param|comment)>[^<]{0,500}</\1>", re.IGNORECASE)
"""A part that no reader sees: "<param>red</param>"."""


def unflow(text: str, *, delsp: bool) -> str:
    """Join the flowed lines of format=flowed text (RFC 3676 section 4); quotes stay quoted.

    Thunderbird and Apple Mail end a line with a blank if the paragraph goes on in the next one.

    Args:
        delsp: the blank that marks a flowed line does not belong to the text.
    """
    paragraphs: list[tuple[str, int]] = []  # with their numbers of quote marks
    pieces: list[str] = []  # of the paragraph that is not finished
    depth = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        quoted = len(line) - len(content)
        content = content.removeprefix(" ")  # section 4.4: space-stuffing
        signature = content == "-- "  # section 4.3: never flowed
        if pieces and (quoted != depth or signature):
            paragraphs.append(("".join(pieces), depth))
            pieces = []
        depth = quoted
        flows = content.endswith(" ") and not signature
        pieces.append(content[:-1] if flows and delsp else content)
        if not flows:
            paragraphs.append(("".join(pieces), depth))
            pieces = []
    if pieces:
        paragraphs.append(("".join(pieces), depth))
    return "\n".join([f"{'>' * marks} {words}" if marks else words for words, marks in paragraphs])


def plain_of_enriched(text: str, *, rich: bool) -> str:
    """Return the plain text of text/enriched (RFC 1896), or of text/richtext before it.

    "<bold>g</bold>,+b2" is "g,+b2". One line end means a blank, and two mean a line end; in
    richtext ``<nl>`` means a line end. An excerpt is a quote and becomes a ``>`` line.
    """
    text = _HIDDEN.sub("", text)
    pieces: list[str] = []
    depth = end = 0  # number of open excerpts, end of the last mark
    for mark in _MARK.finditer(text):
        if not depth:
            pieces.append(text[end : mark.start()])
        end = mark.end()
        name = mark[0].lower()
        if name == "<excerpt>":
            pieces.append("" if depth else "\n>\n")
            depth += 1
        elif name == "</excerpt>":
            depth = max(0, depth - 1)
        elif not depth:
            pieces.append(_text_of_mark(name, rich=rich))
    return "".join(pieces) + ("" if depth else text[end:])


def _text_of_mark(name: str, *, rich: bool) -> str:
    """Return the text that a mark, or a run of line ends, stands for."""
    if name[0] == "\n":
        return " " if rich or len(name) == 1 else name[1:]
    if name == "<<" and not rich:
        return "<"
    return {"<nl>": "\n", "<lt>": "<", "<paragraph>": "\n"}.get(name, "") if rich else ""
