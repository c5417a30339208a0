"""What people write in place of a move: what it might mean, if every word of it is known.

`moves` reads moves as they are written. Here a text that is none is taken apart into labels, cells,
signs and a few words ("fire port e please", "A1 C4 E5 G2", ``+b3 +d3``). `legality.meant` takes it
for a move only if exactly one reading is legal: a ray cannot be called back, and most lines that
are no moves are words for somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.views import View

MOST_WORDS = 12
"""Words that a move may be said in; longer lines are for somebody to read."""

_IDLE = re.compile(
    "[\"\u201c\u201d\u201e\u00ab\u00bb`\u00b4]|(?<![a-z])['\u2018]|['\u2018](?![a-z])"
    r"|(?<!\S)[:;=]-?[()]+(?!\S)"
    "|[☺❤\ufe0f🍀🎉🏻-🏿👋-👍👏😀-🙄🙋-🙏🤗🤞]"
)
"""Quotes, faces and thumbs up, which change nothing about a move."""

_TOKEN = re.compile(
    r"(?P<range>!\s*[a-z0-9]{2,5}\s*-\s*[a-z0-9]{2,5}(?![a-z0-9]))"
    r"|(?P<signed>[+/!-]\s*(?:[a-z]{1,2}\s*[0-9]{1,3}(?![0-9])|[0-9]{1,3}\s*[a-z]{1,2}(?![a-z])))"
    r"|(?P<line>!\s*(?:[a-z]{1,2}|[0-9]{1,3})(?![a-z0-9]))"
    r"|(?P<cell>[a-z]{1,2}-?[0-9]{1,3}(?![0-9])|[0-9]{1,3}[a-z]{1,2}(?![a-z]))"
    r"|(?P<word>[a-z]+(?:'[a-z]+)?)"
    r"|(?P<number>[0-9]{1,3}(?![0-9]))"
    r"|(?P<guess>\?)"
    r"|(?P<between>[,;:&()\[\]|.=*\u2022]+)"
    r"|(?P<sign>[+/-])"
)

_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_FIGURES = {
    word: number for number, word in enumerate(f"{_UNITS}|{_TEENS}".split("|"), start=1)
} | {
    f"{ten}{between}{unit}".strip(): number + more
    for ten, number in (("twenty", 20), ("thirty", 30), ("forty", 40))
    for more, unit in enumerate(f"|{_UNITS}".split("|"))
    for between in " -"
}
_SPOKEN = re.compile(
    r"((?:\A|\b(?:port|number|ray|fire|shoot|probe|try|row)\s|(?<![a-z'])[a-z]\s)\s*(?:please\s)?)"
    rf"({'|'.join(sorted(_FIGURES, key=len, reverse=True))})(?=\Z|[\s,;])(?! ?(?:of|more|or)\b)"
)
"""A number as programs write that take down what people say: "port number twelve", "B two". It is
one where nothing else can stand: at the beginning, behind "port", and behind a column."""

_GREETED = re.compile(r"\A(?:hi|hello|hey|dear)\b[^,!:\n0-9]{0,40}[,!:]\s*(?=\D{0,40}[0-9])")
_TURN_OF_PHRASE = re.compile(r"\bgo(?:ing)? with\b")
_VERBS = {
    **dict.fromkeys(("fire", "shoot", "probe", "send", "launch", "try", "zap", "pick"), "fire"),
    **dict.fromkeys(("choose", "port", "number", "ray", "laser", "shot", "beam"), "fire"),
    **dict.fromkeys(("mark", "marker", "markers", "add", "put", "set", "place"), "mark"),
    **dict.fromkeys(("unmark", "remove", "clear", "delete"), "unmark"),
    **dict.fromkeys(("seal", "seals"), "seal"),
    "lock": "lock",
    "unlock": "unlock",
    "hide": "hide",
    "guess": "guess",
}
_NOUNS = frozenset({"port", "number", "ray", "laser", "shot", "beam", "marker", "markers", "probe"})
"""Verbs, too, where no other verb stands in front: "port 3", "marker on b2"."""

_CLEARS = re.compile(
    r"(?:(?:clear|remove|delete|erase|unmark)|take (?:off|away))"
    r"(?: (?:all|of|my|the|these|those))* (?:markers?|marks)"
)
"""Takes every marker away that is there, without a word about their cells."""
_PAUSES = str.maketrans(dict.fromkeys(",.!;", " "))

_SEPARATORS = frozenset(",;&()[].*\u2022")
_SIGNS = {"mark": "+", "unmark": "/", "seal": "!", "lock": "lock ", "unlock": "unlock "}
_OF_LINES = frozenset({"seal", "lock", "unlock"})
"""Actions that may name a whole row or column."""
_POLITE = frozenset({"please", "pls", "plz", "move", "moves"})
_THANKS = frozenset({"thanks", "thx", "thank"})
"""Behind a move; "Thanks, g" is signed by somebody whose name begins with it."""

_NEUTRAL = frozenset({"and", "then", "port", "cell", "cells", "row", "column", "col", "number"})
_AROUND = frozenset(
    ("at", "in", "into", "from", "on", "to", "through", "via", "the", "an", "my", "with", "is")
).union(
    ("are", "i'll", "i'd", "will", "would", "like", "want", "now", "next", "take", "make", "one"),
    ("final", "let", "let's", "lets", "me", "us"),
)
"""Words that mean nothing here, where a verb or a please stands beside them."""

_HEDGES = frozenset({"i", "i'd", "would", "let", "me"})
"""With one of these beside it a guess without cells is a turn of phrase: "let me guess"."""

_AFTER_I = frozenset(_VERBS) | {"will", "would", "want", "take", "make"}
_AFTER_A = _NOUNS | {"guess"}


@dataclass(slots=True)
class _Token:
    kind: str
    text: str


@dataclass(slots=True)
class _Said:
    """What was understood of a text so far.

    Attributes:
        mode: what the verb before says to do with a label or a cell.
        sure: some word says that this is a move.
        needs: something was there that is no part of a move by itself.
        guesses: a guess is to be taken.
        signs: the elements, as moves are written.
        bare: places in `signs` of cells that nothing is said about.
    """

    hiding: bool
    mode: str = ""
    sure: bool = False
    needs: bool = False
    guesses: bool = False
    signs: list[str] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)


def readings(view: View, text: str) -> Iterator[str]:
    """What a text might mean, as moves are written."""
    hiding = not view.has_hidden
    words = text.lower().translate(_PAUSES).split()
    plain = " ".join([word for word in words if word not in _POLITE])
    if not hiding and _CLEARS.fullmatch(plain):
        locked = view.own.locked if view.own else frozenset[int]()
        kept = [f"+{view.options.board.name(cell)}" for cell in locked]
        yield ",".join(_others(view, kept))
        return
    tokens = _tokens(text, hiding=hiding)
    if tokens is None:
        return
    variants = [tokens]
    for over in (False, hiding):
        joined = _joined(tokens, over_commas=over)
        if joined not in variants:  # most are alike, and a text may have hundreds of parts
            variants.append(joined)
    for variant in variants:
        said = _understood(variant, hiding=hiding)
        if said is not None:
            signs = [_turned(view.options.board, sign) for sign in said.signs]
            # A port that is named twice is one ray; an atom that is may be a slip for another cell.
            yield ",".join(signs if hiding else dict.fromkeys(signs))
            if said.guesses and said.bare == list(range(len(said.signs) - 1)):
                yield ",".join((*_others(view, said.signs[:-1]), *said.signs))


def _others(view: View, marks: Sequence[str]) -> list[str]:
    """What takes all markers away but these; a guess that names its cells may mean no others."""
    board, own = view.options.board, view.own
    named = {board.cell(mark[1:]) for mark in marks}
    return [
        f"/{board.name(cell)}" for cell in sorted(own.markers if own else ()) if cell not in named
    ]


def _tokens(text: str, *, hiding: bool) -> list[_Token] | None:
    """The parts of a text; ``None`` where something else is between them, as in most sentences."""
    plain = _IDLE.sub(" ", text.lower().replace("\u2019", "'")).strip().rstrip(".! ")
    plain = _SPOKEN.sub(lambda said: f"{said[1]}{_FIGURES[said[2]]}", plain)
    plain = _TURN_OF_PHRASE.sub("fire", _GREETED.sub("", plain, count=1))
    found, at = [], 0
    if any(plain.count(a) != plain.count(b) for a, b in ("()", "[]")):
        return None  # "a)" begins a list
    while at < len(plain):
        match = _TOKEN.match(plain, at)
        if plain[at].isspace():
            at += 1
        elif match is None or _may_be_otherwise(plain, match, hiding=hiding):
            return None
        else:
            found.append(_Token(match.lastgroup or "", "".join(match[0].split())))
            at = match.end()
    words = [token for token in found if token.kind == "word" and len(token.text) > 2]
    asks = any(token.kind == "guess" for token in found)  # a question mark behind words asks
    return None if len(words) > MOST_WORDS or (words and asks) else found


def _may_be_otherwise(plain: str, match: re.Match[str], *, hiding: bool) -> bool:
    """Whether a part stands so that it may mean something else: "a?", "- J", and "+b3/d3", which
    may have been written for two markers."""
    before, sign = plain[: match.start()][-1:], match[0][0]
    match match.lastgroup:
        case "guess":
            return before not in {"", " ", ","}
        case "signed":
            return sign in "/-" and before.isalnum() and not hiding
        case "sign":
            return not hiding or not before
    return False


def _joined(tokens: Sequence[_Token], *, over_commas: bool) -> list[_Token]:
    """Join each letter and number beside each other to one cell."""
    found: list[_Token] = []
    kept = [t for t in tokens if t.kind != "between"] if over_commas else tokens
    for token in kept:
        before = found[-1] if found else _Token("", "")
        pair = {before.kind, token.kind} == {"word", "number"}
        if pair and all(len(t.text) <= 2 for t in (before, token) if t.kind == "word"):
            found[-1] = _Token("cell", before.text + token.text)
        else:
            found.append(token)
    return found


def _understood(tokens: Sequence[_Token], *, hiding: bool) -> _Said | None:
    """The elements that a text names; ``None`` if it has anything else in it."""
    said = _Said(hiding)
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if not _take(said, token, following):
            return None
    if said.needs and not said.sure:
        return None
    if said.guesses and not said.signs and not _HEDGES.isdisjoint(token.text for token in tokens):
        return None
    if said.guesses:
        said.signs = [f"+{s}" if n in said.bare else s for n, s in enumerate(said.signs)] + ["?"]
    return said if said.signs else None


def _take(said: _Said, token: _Token, following: str) -> bool:
    """Take one part in; ``False`` if it is none of a move."""
    text = token.text
    match token.kind:
        case "sign":
            return True
        case "between":
            said.needs |= not _SEPARATORS.issuperset(text)  # "12:" is no move
            return True
        case "guess":
            said.guesses, was = True, said.guesses
            return not was
        case "range" | "line":
            said.signs.append(text)
            return not said.hiding
        case "signed":
            said.signs.append(text[1:] if said.hiding else text.replace("-", "/"))
            return True
        case "cell":
            return _take_cell(said, text.replace("-", ""))
        case "number":
            return _take_label(said, text)
    if text == "a" and following in _AFTER_A:
        return True
    if text == "i" and following in _AFTER_I:
        said.needs = True
        return True
    return _take_word(said, text) or (len(text) <= 2 and _take_label(said, text))


def _take_word(said: _Said, word: str) -> bool:
    verb = _VERBS.get(word, "")
    if verb and not (word in _NOUNS and said.mode):
        said.mode = "hide" if said.hiding and verb == "mark" else verb
        said.guesses |= verb == "guess"
        said.sure = True
    elif said.hiding and word in {"atom", "atoms"}:
        said.mode, said.sure = "hide", True
    elif word in _POLITE or (word in _THANKS and said.signs):
        said.sure = True
    elif word in _AROUND:
        said.needs = True
    else:
        return word in _NEUTRAL or word in _NOUNS
    return True


def _take_cell(said: _Said, cell: str) -> bool:
    if said.mode == "fire" or (said.mode == "hide" and not said.hiding):
        return False
    sign = "" if said.hiding else _SIGNS.get(said.mode, "")
    if not sign:
        said.bare.append(len(said.signs))
    said.signs.append(sign + cell)
    return True


def _take_label(said: _Said, label: str) -> bool:
    if said.mode not in {"", "fire", *_OF_LINES}:
        return False
    said.signs.append(_SIGNS[said.mode] + label if said.mode in _OF_LINES else label)
    return True


def _turned(board: Geometry, sign: str) -> str:
    """A range with its top left cell in front; all else as it is."""
    first, dash, last = sign[1:].partition("-")
    start, end = board.cell(first), board.cell(last)
    if not dash or start is None or end is None:
        return sign
    rows, columns = zip(divmod(start, board.width), divmod(end, board.width), strict=True)
    corners = (min(rows) * board.width + min(columns), max(rows) * board.width + max(columns))
    return "!" + "-".join(map(board.name, corners))
