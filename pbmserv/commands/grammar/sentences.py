"""Splits what people write into sentences, and tells greetings and farewells from the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pbmserv.commands.grammar.words import fold

MOST = 12
"""Sentences of a reply that are looked at."""

_ENDS = re.compile(
    r"(?<=[^\W\d_])[.!?…。！？]+(?=\s|\Z)"  # behind a word: "Fire D!"
    r"|(?<=[\d)\]\"'])[.!…。！]+(?=\s|\Z)"  # behind a number; "5?" asks
    r"|[!?]+(?=\s|\Z)"
    r"|\n+"
)
_ABBREVIATION = re.compile(r"\b(?:no|nr|num|n|pls|mr|mrs|dr|st|ca|approx)\Z", re.IGNORECASE)

_GREETING = re.compile(
    r"(?:hi|hiya|hello|hey|heya|dear|hallo|hola|salut|bonjour|bonsoir|ciao|moin|servus|ol[aá]|hej|hei"
    r"|hoi|ahoj|cze[sś][cć]|привет|здравствуй(?:те)?|buenos d[ií]as|bom dia|buongiorno|guten \w+"
    r"|good (?:morning|afternoon|evening|day))\b"
    r"(?:[ ,]+(?!please|fire|i\b)[^\W\d_]+){0,3}",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"(?:(?:best|kind|warm|many)? ?(?:regards|wishes)|cheers|yours(?: \w+)?|sincerely|love|thanks"
    r"|thank you|thx|bye|best|take care|see you(?: soon)?|lg|mfg|gru(?:ß|ss)|viele gr(?:ü|ue)(?:ß|ss)e"
    r"|liebe gr(?:ü|ue)(?:ß|ss)e|saludos|un abrazo|cordialement|bises|amicalement|saluti|abraços"
    r"|groetjes|h[aä]lsningar|hilsen|pozdrawiam|good luck|viel gl(?:ü|ue)ck|suerte|bonne chance)"
    r"(?:[ ,]+[^\W\d_]+){0,2}",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each without the sign at its end; a question keeps its own.

    A line's end ends a sentence, too.
    """
    parts: list[str] = []
    for line in map(fold, text.splitlines()):
        start = 0
        for match in _ENDS.finditer(line):
            if "." in match[0] and _ABBREVIATION.search(line[start : match.start()]):
                continue
            parts.append(line[start : match.start()] + ("?" if "?" in match[0] else ""))
            start = match.end()
        parts.append(line[start:])
    return [part.strip() for part in parts if part.strip(" ,;:-\u2013")][:MOST]


def without_greeting(sentence: str) -> str:
    """Return a sentence without "Hi Bob," in front of it; ``""`` if that is all of it."""
    match = _GREETING.match(sentence)
    if match is None:
        return sentence
    rest = sentence[match.end() :]
    if rest and rest[0] not in ",!.:;-\u2013 ":
        return sentence
    return rest.lstrip(" ,!.:;-\u2013")


def is_farewell(sentence: str) -> bool:
    """Return whether a sentence only says goodbye, thanks or good luck."""
    return _FAREWELL.fullmatch(sentence.strip(" ,.!-\u2013")) is not None


def content(text: str) -> Iterator[str]:
    """Yield the sentences of a text without greetings and farewells."""
    for sentence in sentences(text):
        rest = without_greeting(sentence)
        if rest and not is_farewell(rest):
            yield rest
