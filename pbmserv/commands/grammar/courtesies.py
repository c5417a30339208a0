"""Recognises words that ask nothing: greetings, farewells, thanks and praise."""

from __future__ import annotations

import re

from pbmserv.commands.grammar.words import fold
from pbmserv.commands.table.catalogue import STOPS
from pbmserv.engine.plain_text import any_of, phrases, plain

SIGNS_AROUND = " ,.:;!-\u2013"
"""Signs in front of a sentence and behind it."""


def _as_written(*lists: str) -> frozenset[str]:
    """Return the phrases of lists that separate them by commas, with and without accents."""
    written = {phrase.strip() for text in lists for phrase in text.split(",")} - {""}
    return phrases(*lists) | written


_GREETINGS = _as_written(
    "hi, hiya, hello, hey, heya, dear, greetings, good morning, good afternoon, good evening",
    "good day, hallo, moin, servus, guten tag, guten morgen, guten abend, liebe, lieber, hola",
    "buenos días, buenas tardes, salut, bonjour, bonsoir, ciao, buongiorno, buonasera, olá, oi",
    "bom dia, boa tarde, hej, hei, hoi, goedemorgen, ahoj, cześć, dzień dobry, привет",
    "здравствуй, здравствуйте, こんにちは",
)
_FAREWELLS = _as_written(
    "regards, best regards, kind regards, warm regards, best wishes, many wishes, best",
    "all the best, cheers, yours, yours sincerely, yours truly, sincerely, love, thanks",
    "thank you, many thanks, thanks a lot, thx, bye, bye bye, take care, see you, see you soon",
    "have fun, good luck, lg, mfg, gruß, grüße, viele grüße, liebe grüße, beste grüße, danke",
    "vielen dank, viel glück, viel spaß, saludos, un abrazo, gracias, muchas gracias, suerte",
    "cordialement, bises, amicalement, merci, bonne chance, saluti, grazie, abraços, obrigado",
    "obrigada, groetjes, bedankt, hälsningar, tack, hilsen, takk, pozdrawiam, dzięki, спасибо",
    "ありがとう",
)
_GREETING, _FAREWELL = any_of(_GREETINGS), any_of(_FAREWELLS)
_NO_NAMES = phrases(
    "i, i'd, i'll, i'm, my, fire, shoot, please, port, yes, no, ok, sure, mark, let's, the"
)
_MOST_NAMES = 3

_KIND_WORDS = (STOPS - {"quit"}).union(
    ("thank you", "thank you very much", "many thanks", "thanks a lot", "thx", "ty", "cheers"),
    ("great", "cool", "nice", "perfect", "super", "wow", "got it", "danke", "gracias", "merci"),
)
"""Replies that are only a kind word."""

_PRAISES = (
    *(r"(?:many |a thousand )?thanks\b", r"thank you\b", r"thx\b", r"gg\b", r"ggwp\b"),
    *(r"good (?:game|one)\b", r"well (?:played|done)\b"),
    *(r"(?:nice|great|lovely|fun|tough|close) (?:game|one|match)\b", r"bravo\b", r"congrat\w*"),
    *(r"what a game\b", r"that was (?:great|good|fun|close|nice|a (?:good|great|nice))\b"),
    *(r"danke\b", r"gut gespielt\b", r"glückwunsch\b", r"merci\b", r"bien joué\b"),
    *(r"gracias\b", r"bien jugado\b", r"grazie\b", r"tack\b", r"obrigad[oa]\b", r"bedankt\b"),
    *(r"dank je\b", r"ありがとう", r"お疲れ"),
)
_PRAISE = re.compile(rf"(?:{'|'.join(_PRAISES)})[^?]*", re.IGNORECASE)
"""Thanks or praise, without a question after it: "Well played, Bob!"."""

_FOR_THE_SERVER = (
    *("rematch", "again", "another", "delete", "account", "resign", "undo", r"un\w*", "signoff"),
    *(r"passw\w*", "stop", "mails?", "emails?", "letters?", "help", "server", "no more"),
)
_TO_THE_SERVER = re.compile(rf"\b(?:{'|'.join(_FOR_THE_SERVER)})\b", re.IGNORECASE)
"""Words that may be meant for the server: "Thanks, another game please"."""


def begins_with_greeting(line: str) -> bool:
    """Return whether a line begins with a greeting, such as "Hi Bob" or "Good morning"."""
    return _GREETING.match(line.lower()) is not None


def without_greeting(sentence: str) -> str:
    """Return a sentence without "Hi Bob," in front of it; ``""`` if that is all of it."""
    match = _GREETING.match(sentence.lower())
    if match is None:
        return sentence
    rest = sentence[match.end() :]
    names, comma, behind = rest.partition(",")
    if comma and len(_names(names)) <= _MOST_NAMES and not any(map(str.isdigit, names)):
        return behind.strip(SIGNS_AROUND)
    words = _names(rest)
    is_all = len(words) <= _MOST_NAMES and not any(map(str.isdigit, rest))
    if is_all and _NO_NAMES.isdisjoint(plain(word) for word in words):
        return ""
    return rest.strip(SIGNS_AROUND)


def is_farewell(sentence: str) -> bool:
    """Return whether a sentence only says goodbye, thanks or good luck, perhaps to a name."""
    match = _FAREWELL.match(sentence.lower())
    if match is None:
        return False
    names = _names(sentence[match.end() :])
    return len(names) < _MOST_NAMES and all(name[:1].isupper() for name in names)


def is_kind_word(line: str) -> bool:
    """Return whether a reply of one line asks for nothing: it is only a kind word, or an emoji."""
    text = line.lower()
    if " ".join(text.strip(".!").split()) in _KIND_WORDS:
        return True
    return not text.isascii() and not any(map(str.isalnum, text))


def is_praise(text: str) -> bool:
    """Return whether a text only thanks an opponent or praises a game."""
    text = fold(text).strip()
    return _PRAISE.fullmatch(text) is not None and _TO_THE_SERVER.search(text) is None


def _names(text: str) -> list[str]:
    return [word for word in re.split(r"[^\w']+", text) if word]
