"""Recognises a yes or a no in the words of people.

Where the server asked whether somebody wants to play, any clear yes or no is an answer
(`consent_in`). A yes with a doubt ("maybe", "yes, but not now", "yes or no?") is not. Other
questions need a text that is only a yes (`says_yes`), or whose first word is a no.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pbmserv.commands.grammar.consent_words import (
    BESIDE_YES,
    DOUBT,
    HARMLESS,
    NEGATION,
    NO,
    NO_ALONE,
    NO_WORDS,
    ONLY_YES,
    OPENING,
    SHORT,
    YES,
    YES_ALONE,
)
from pbmserv.commands.grammar.sentences import Sentence, sentences
from pbmserv.commands.grammar.words import fold
from pbmserv.engine.plain_text import any_of, plain

_CONTINUED = re.compile(
    r"(?<![.!?…\s])\s*\n(?=(?:if|but|unless|when|only|or|aber|wenn|mais|pero)\b)", re.IGNORECASE
)
"""A line's end before a condition belongs to the sentence: "Sure" above "if you like"."""
_THUMB = re.compile("[\U0001f44d\U0001f44c\u2705\u2714]")
_SIGNS = re.compile(r"[^\w'?\-]+")
_SHORT = any_of(SHORT)


@dataclass(frozen=True, slots=True)
class Consent:
    """A clear answer to an invitation.

    Attributes:
        is_yes: whether the answer is yes.
        sentence: the sentence that says so.
        leads: only greetings stand above it.
        others: the other sentences, which may hold a first move or words for the opponent.
    """

    is_yes: bool
    sentence: Sentence
    leads: bool
    others: tuple[Sentence, ...]


def consent_in(text: str) -> Consent | None:
    """Return the answer to an invitation that a text gives, `None` if it gives no clear one."""
    parts = sentences(_CONTINUED.sub(" ", text))
    answers = [_answer(sentence) for sentence in parts]
    clear = [place for place, answer in enumerate(answers) if answer is not None]
    if not clear or len({answers[place] for place in clear}) > 1:
        return None
    first = clear[0]
    if any(DOUBT.search(plain(sentence.text)) for sentence in parts[:first]):
        return None
    leads = not any(sentence.text for sentence in parts[:first])
    others = (*parts[:first], *parts[first + 1 :])
    return Consent(bool(answers[first]), parts[first], leads, others)


def says_yes(text: str) -> bool:
    """Return whether a text is a yes without any reservation."""
    words, is_yes = _without_contractions(fold(text)), False
    while words:
        yes = YES.match(words) or ONLY_YES.match(words)
        match = yes or BESIDE_YES.match(words)
        if match is None:
            return False
        is_yes |= yes is not None
        words = words[match.end() :].strip()
    return is_yes


def begins_with_no(text: str) -> bool:
    """Return whether the first word of a text says no."""
    return text.partition(" ")[0].strip(".,;:!").lower() in NO_WORDS


def _answer(sentence: Sentence) -> bool | None:
    """Return `True` if a sentence says yes, `False` if it says no, `None` if it says neither."""
    words = _without_contractions(sentence.text)
    asks = words.endswith("?") and "of course" not in words
    words = words.rstrip("? ")
    whole = words
    while opening := OPENING.match(words):
        words = words[opening.end() :].strip()
    doubt = DOUBT.search(words)
    if asks or (doubt is not None and doubt.start() == 0):
        return None
    if NO.match(words) or {words, whole} & NO_ALONE:
        return False
    if doubt is not None or NEGATION.search(words):
        return None
    is_yes = YES.match(words) or words in YES_ALONE or _THUMB.search(sentence.written)
    return True if is_yes else None


def _without_contractions(text: str) -> str:
    """Return words as the lists of words have them, and question marks."""
    words = _SHORT.sub(lambda match: SHORT[match[0]], plain(text))
    return HARMLESS.sub("of course", " ".join(_SIGNS.sub(" ", words).split()))
