"""Reads a reply to another player's message: words for them, unless it is clearly a command."""

from __future__ import annotations

from collections.abc import Collection

from pbmserv.commands.grammar.line import words_of
from pbmserv.commands.reading.bodies import read_body, text_lines
from pbmserv.commands.reading.replies import EMPTY, is_full_form, read_reply, top_lines
from pbmserv.commands.reading.trailing_text import Below, in_full
from pbmserv.commands.table.catalogue import IN_REPLY, MULTIPLE
from pbmserv.commands.table.model import Chat, Line, Reading

_TALK = frozenset({"yes", "accept", "reject", "back", "check", "undo", "redo"})
"""Commands of one word with which people answer each other as well."""


def read_message(body: str, games: Collection[str]) -> Reading:
    """What a reply to a message asks for; words for its writer are a `Chat`.

    A command is one whose first line is a command in full, as it would stand in a subject;
    ``multiple`` with commands below it; or a mail of just one word that a reply may consist of.
    """
    lines = text_lines(body)
    top = top_lines(lines)
    if not top:
        return Reading((EMPTY,))
    words = words_of(top[0][1])
    first = words[0].text.lower().rstrip(".!:,;") if words else ""
    if len(words) == 1 and first in MULTIPLE:
        found = read_body("\n".join(lines[top[0][0] + 1 :]), games, announced=True)
        if found is not None:
            return found
    if words and (in_full(top[0][1], games) or is_full_form(words, games)):
        found = read_body(body, games)
        if found is not None:
            return found
    row = IN_REPLY.get(" ".join(word.text.lower() for word in words).rstrip(".!"))
    if row is not None and row.name not in _TALK and (len(top) == 1 or row.name == "chat"):
        return read_reply(body, games)
    if first == "chat":
        return read_reply(body, games)
    below = Below(lines, 0, games)
    return Reading((Line("message", Chat(None, None, None)), *below.not_tried()), below.words())
