"""Splits texts of people into sentences without their greetings and farewells."""

# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pbmserv.commands.grammar.courtesies import (
    SIGNS_AROUND,
    is_farewell,
    is_praise,
    without_greeting,
)
from pbmserv.commands.grammar.words import fold
from pbmserv.engine.plain_text import any_of, phrases, plain

MOST = 12
"""Sentences of a reply that are looked at."""

LONGEST = 2_000
"""Characters of a reply that are looked at."""

_ENDS = re.compile(
    r"(?<=[^\W\d_])[.!?…。\uff01\uff1f]+(?=\s|\Z)"  # after a word: "Fire D!"
    r"|(?<=[\d)\]\"'])[.!?…。\uff01\uff1f]+(?=\s|\Z)"  # after a number
    r"|(?<![!?])[!?]+(?=\s|\Z)"
)
_ABBREVIATION = re.compile(r"(?<!\w)(?:no|nr|num|n|pls|mr|mrs|dr|st|ca)\Z", re.IGNORECASE)
_LIST_ITEM = re.compile(r"\s*\d+\.\s+[a-z]{0,2}\d", re.IGNORECASE)
"""A number of a list in front of a place: "1. b3"."""

_NEAR = 8

OR = phrases("or, oder, ou, o, eller, of, albo, lub, nebo, или, або")
"""Words between two things to choose from."""

_CORRECTIONS = any_of(
    phrases(
        "no, nope, or, wait, oops, actually, instead, rather, sorry, correction, i mean, i meant",
        "maybe, perhaps, nein, oder, doch, lieber, non, ou, plutôt, o, mejor, oppure, anzi, nee",
        "of, eller, nej",
    )
)
_MOST_OF_A_CORRECTION = 4
_PLACE = re.compile(r"(?<!\w)(?:[a-z]{0,2}\d{1,3}|[b-hj-z])(?!\w)")


_COURTESY_BEHIND = re.compile(r"(?:\s*[,;:]|\s+[-\u2013])\s+(?:and )?(?=\w)")
"""The signs before a courtesy: "e4, good luck!", "e4 - thanks"."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text.

    Attributes:
        text: its words without a greeting and without the sign at its end, except a question mark;
            ``""`` if it is only a greeting or a farewell.
        written: the sentence as typed.
        line: the number of its line.
    """

    text: str
    written: str
    line: int


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text. A line's end ends a sentence, too."""
    parts: list[Sentence] = []
    for number, line in enumerate(text[:LONGEST].split("\n")):
        for bare, sign in _split(line):
            rest = without_greeting(fold(bare).strip(SIGNS_AROUND))
            rest = "" if is_farewell(rest) else rest
            mark = "?" if rest and "?" in sign else ""
            parts.append(Sentence(rest + mark, (bare + sign).strip(), number))
    return parts[:MOST]


def with_courtesies_apart(parts: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences in which a courtesy at the end is one of its own: "e4, good luck Bob"."""
    apart: list[Sentence] = []
    for sentence in parts:
        for sign in _COURTESY_BEHIND.finditer(sentence.text):
            courtesy = sentence.text[sign.end() :]
            at = sentence.written.rfind(courtesy)  # -1: typed with other signs
            if at > 0 and _is_courtesy(courtesy):
                front, behind = sentence.written[:at].rstrip(), sentence.written[at:]
                apart.append(Sentence(sentence.text[: sign.start()], front, sentence.line))
                apart.append(Sentence(courtesy, behind, sentence.line))
                break
        else:
            apart.append(sentence)
    return apart


def begins_courtesy(sentence: Sentence) -> bool:
    """Return whether `with_courtesies_apart` has parted a sentence from a courtesy behind it."""
    return sentence.written.endswith((",", ";", ":", "-", "\u2013", "and"))


def _is_courtesy(text: str) -> bool:
    """Return whether a text is only a courtesy, and names no place."""
    return is_farewell(text) or (is_praise(text) and _PLACE.search(plain(text)) is None)


def talk(parts: Sequence[Sentence]) -> str:
    """Return sentences as typed, line by line; ``""`` if all are greetings and farewells."""
    if not any(len(sentence.text) > 1 for sentence in parts):  # one letter is an initial
        return ""
    lines: dict[int, list[str]] = {}
    for sentence in parts:
        lines.setdefault(sentence.line, []).append(sentence.written)
    return "\n".join(" ".join(line) for line in lines.values())


def begins_correction(sentence: Sentence) -> bool:
    """Return whether a sentence begins as one that takes another back: "No, wait"."""
    return _CORRECTIONS.match(plain(sentence.text)) is not None


def corrects(sentence: Sentence) -> bool:
    """Return whether a short sentence may take back a move that another one says: "No, 6!"."""
    words = plain(sentence.text)
    is_short = len(words.split()) <= _MOST_OF_A_CORRECTION
    return is_short and begins_correction(sentence) and _PLACE.search(words) is not None


def _split(line: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a line, and the sign at its end."""
    start = 0
    for match in _ENDS.finditer(line):
        at = match.start()
        if "." in match[0] and _ABBREVIATION.search(line[max(start, at - _NEAR) : at]):
            continue
        if _LIST_ITEM.match(line[start : match.end() + _NEAR]):
            continue
        if line[start:at].strip(SIGNS_AROUND):
            yield line[start:at], match[0]
        start = match.end()
    if line[start:].strip(SIGNS_AROUND):
        yield line[start:], ""
