"""Reads texts that people write in place of a move: with known words only, or in a sentence.

`moves` reads moves in their written form. `ways_to_read` returns the readings of other texts. This
module splits a text into labels, cells, signs and a few English words, and has no reading for one
with any other word ("fire port e please", "A1 C4 E5 G2", ``+b3 +d3``). `spoken` reads one port, or
cells to mark, in a sentence with unknown words, in a dozen languages.

`meanings.meant` accepts a text as a move only if exactly one reading is legal, since a ray cannot
be taken back and most other lines are messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import SIGNS
from pbmserv.games.blackbox.spoken import spoken
from pbmserv.games.blackbox.views import View

MOST_WORDS = 12
"""The most words of a move; longer lines are messages."""

_IDLE = re.compile(
    "[\"\u201c\u201d\u201e\u00ab\u00bb`\u00b4]|(?<![a-z])['\u2018]|['\u2018](?![a-z])"
    r"|(?<!\S)[:;=]-?[()]+(?!\S)"
    "|[☺❤\ufe0f🍀🎉🏻-🏿👋-👍👏😀-🙄🙋-🙏🤗🤞]"
)
"""Quotes, faces and thumbs up, which do not change the meaning of a move."""

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
"""A number in words, as dictation programs write it: "port number twelve", "B two".

It counts at the beginning, behind "port", and behind a column.
"""

_GREETED = re.compile(r"\A(?:hi|hello|hey|dear)\b[^,!:\n0-9]{0,40}[,!:]\s*(?=\D{0,40}[0-9])")
_RANGE = re.compile(
    r"\bseals? (?:from |cells? |area |the )*([a-z]{1,2}\d{1,3})"
    r" ?(?:-|to|through) ?([a-z]{1,2}\d{1,3})(?!\w)"
)
"""An area in words: "seal from b2 to d4"."""

_TURN_OF_PHRASE = re.compile(r"\bgo(?:ing)? with\b")
_MY_GUESS = re.compile(r"\b(?:is|are) (?=my guess\b)|(?<=\bmy guess )(?:is|are)\b")
"""Elsewhere, a sentence with such a verb says something else: "Launch is at 4"."""

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
"""Nouns that are verbs if no verb precedes them: "port 3", "marker on b2"."""

_CLEARS = re.compile(
    r"(?:(?:clear|remove|delete|erase|unmark)|take (?:off|away))"
    r"(?: (?:all|of|my|the|these|those))* (?:markers?|marks)"
)
"""Removes all markers without naming their cells."""
_PAUSES = str.maketrans(dict.fromkeys(",.!;", " "))

_SEPARATORS = frozenset(",;&()[].*\u2022")
_OF_LINES = frozenset({"seal", "lock", "unlock"})
"""Actions that may name a whole row or column."""
_POLITE = frozenset({"please", "pls", "plz", "move", "moves"})
_THANKS = frozenset({"thanks", "thx", "thank"})
"""Words behind a move. "Thanks, g" is not a move but signed with an initial."""

_NEUTRAL = frozenset({"and", "then", "port", "cell", "cells", "row", "column", "col", "number"})
_AROUND = frozenset(
    ("at", "in", "into", "from", "on", "to", "through", "via", "the", "an", "my", "with")
).union(
    ("i'll", "i'd", "will", "would", "like", "want", "now", "next", "take", "make", "one"),
    ("final", "let", "let's", "lets", "me", "us"),
)
"""Words without a meaning, if a verb or "please" accompanies them."""

_HEDGES = frozenset({"i", "i'd", "would", "let", "me"})
"""Words with which a guess without cells is only a phrase: "let me guess"."""

_AFTER_I = frozenset(_VERBS) | {"will", "would", "want", "take", "make"}
_AFTER_A = _NOUNS | {"guess"}


@dataclass(slots=True)
class _Token:
    kind: str
    text: str


@dataclass(slots=True)
class _Understood:
    """The meaning of the tokens of a text that were read so far.

    Attributes:
        hiding: whether the reader has to hide atoms.
        mode: the action of the last verb, for the labels and cells behind it.
        is_surely_move: a word shows that the text is a move.
        needs_proof: the text has parts that also occur in sentences, so that such a word is needed.
        guesses: the text makes a guess.
        signs: the elements in their written form.
        bare: indices in `signs` of cells without an action.
    """

    hiding: bool
    mode: str = ""
    is_surely_move: bool = False
    needs_proof: bool = False
    guesses: bool = False
    signs: list[str] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)


def ways_to_read(view: View, text: str) -> Iterator[list[str]]:
    """Yield the readings of a text in the written form of moves: with known words, then spoken."""
    yield list(_with_known_words(view, text))
    yield list(filter(None, [spoken(view, text)]))


def _with_known_words(view: View, text: str) -> Iterator[str]:
    hiding = not view.has_hidden
    words = text.lower().translate(_PAUSES).split()
    plain = " ".join([word for word in words if word not in _POLITE])
    if not hiding and _CLEARS.fullmatch(plain):
        locked = view.own.locked if view.own else frozenset[int]()
        kept = [f"+{view.options.board.name(cell)}" for cell in locked]
        yield ",".join(_remove_others(view, kept))
        return
    tokens = _tokens(text, hiding=hiding)
    if tokens is None:
        return
    variants = [tokens]
    for over in (False, hiding):
        joined = _joined(tokens, over_commas=over)
        if joined not in variants:  # most are equal, and a text may have hundreds of tokens
            variants.append(joined)
    for variant in variants:
        meaning = _understand(variant, hiding=hiding)
        if meaning is not None:
            signs = [_in_order(view.options.board, sign) for sign in meaning.signs]
            # A repeated port is one ray. A repeated atom may be a mistake for another cell.
            yield ",".join(signs if hiding else dict.fromkeys(signs))
            if meaning.guesses and meaning.bare == list(range(len(meaning.signs) - 1)):
                yield ",".join((*_remove_others(view, meaning.signs[:-1]), *meaning.signs))


def _remove_others(view: View, marks: Sequence[str]) -> list[str]:
    """Return elements that remove all markers except these.

    A guess that names its cells may mean just these cells.
    """
    board, own = view.options.board, view.own
    named = {board.cell(mark[1:]) for mark in marks}
    return [
        f"/{board.name(cell)}" for cell in sorted(own.markers if own else ()) if cell not in named
    ]


def _tokens(text: str, *, hiding: bool) -> list[_Token] | None:
    """Return the tokens of a text, `None` if it has other characters, as most sentences have."""
    plain = _IDLE.sub(" ", text.lower().replace("\u2019", "'")).strip().rstrip(".! ")
    plain = _SPOKEN.sub(lambda match: f"{match[1]}{_FIGURES[match[2]]}", plain)
    plain = _TURN_OF_PHRASE.sub("fire", _GREETED.sub("", plain, count=1))
    plain = _MY_GUESS.sub("", plain)
    plain = _RANGE.sub(r"!\1-\2", plain)
    tokens: list[_Token] = []
    at = 0
    if any(plain.count(a) != plain.count(b) for a, b in ("()", "[]")):
        return None  # "a)" begins a list
    while at < len(plain):
        match = _TOKEN.match(plain, at)
        if plain[at].isspace():
            at += 1
        elif match is None or _is_ambiguous(plain, match, hiding=hiding):
            return None
        else:
            tokens.append(_Token(match.lastgroup or "", "".join(match[0].split())))
            at = match.end()
    words = [token for token in tokens if token.kind == "word" and len(token.text) > 2]
    is_question = words and any(token.kind == "guess" for token in tokens)
    return None if len(words) > MOST_WORDS or is_question else tokens


def _is_ambiguous(plain: str, match: re.Match[str], *, hiding: bool) -> bool:
    """Return whether a token may mean something else in its place.

    Examples are "a?", "- J", and "+b3/d3", which may mean two markers.
    """
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
    """Join adjacent letters and numbers into cells."""
    joined: list[_Token] = []
    kept = [t for t in tokens if t.kind != "between"] if over_commas else tokens
    for token in kept:
        before = joined[-1] if joined else _Token("", "")
        pair = {before.kind, token.kind} == {"word", "number"}
        if pair and all(len(t.text) <= 2 for t in (before, token) if t.kind == "word"):
            joined[-1] = _Token("cell", before.text + token.text)
        else:
            joined.append(token)
    return joined


def _understand(tokens: Sequence[_Token], *, hiding: bool) -> _Understood | None:
    """Return the meaning of a text, `None` if it has tokens that are not part of a move."""
    meaning = _Understood(hiding)
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if not _add_token(meaning, token, following):
            return None
    if meaning.needs_proof and not meaning.is_surely_move:
        return None
    if (
        meaning.guesses
        and not meaning.signs
        and not _HEDGES.isdisjoint(token.text for token in tokens)
    ):
        return None
    if meaning.guesses:
        meaning.signs = [
            f"+{s}" if n in meaning.bare else s for n, s in enumerate(meaning.signs)
        ] + ["?"]
    return meaning if meaning.signs else None


def _add_token(meaning: _Understood, token: _Token, following: str) -> bool:
    """Add a token. Return `False` if it is not part of a move."""
    text = token.text
    match token.kind:
        case "sign":
            return True
        case "between":
            meaning.needs_proof |= not _SEPARATORS.issuperset(text)  # "12:" is not a move
            return True
        case "guess":
            is_first = not meaning.guesses
            meaning.guesses = True
            return is_first
        case "range" | "line":
            meaning.signs.append(text)
            return not meaning.hiding
        case "signed":
            meaning.signs.append(text[1:] if meaning.hiding else text.replace("-", "/"))
            return True
        case "cell":
            return _add_cell(meaning, text.replace("-", ""))
        case "number":
            return _add_label(meaning, text)
    if text == "a" and following in _AFTER_A:
        return True
    if text == "i" and following in _AFTER_I:
        meaning.needs_proof = True
        return True
    return _add_word(meaning, text) or (len(text) <= 2 and _add_label(meaning, text))


def _add_word(meaning: _Understood, word: str) -> bool:
    verb = _VERBS.get(word, "")
    if verb and not (word in _NOUNS and meaning.mode):
        meaning.mode = "hide" if meaning.hiding and verb == "mark" else verb
        meaning.guesses |= verb == "guess"
        meaning.is_surely_move = True
    elif meaning.hiding and word in {"atom", "atoms"}:
        meaning.mode, meaning.is_surely_move = "hide", True
    elif word in _POLITE or (word in _THANKS and meaning.signs):
        meaning.is_surely_move = True
    elif word in _AROUND:
        meaning.needs_proof = True
    else:
        return word in _NEUTRAL or word in _NOUNS
    return True


def _add_cell(meaning: _Understood, cell: str) -> bool:
    if meaning.mode == "fire" or (meaning.mode == "hide" and not meaning.hiding):
        return False
    sign = "" if meaning.hiding else SIGNS.get(meaning.mode, "")
    if not sign:
        meaning.bare.append(len(meaning.signs))
    meaning.signs.append(sign + cell)
    return True


def _add_label(meaning: _Understood, label: str) -> bool:
    if meaning.mode not in {"", "fire", *_OF_LINES}:
        return False
    meaning.signs.append(SIGNS[meaning.mode] + label if meaning.mode in _OF_LINES else label)
    return True


def _in_order(board: Geometry, sign: str) -> str:
    """Return a range with its top left cell first, other elements unchanged."""
    first, dash, last = sign[1:].partition("-")
    start, end = board.cell(first), board.cell(last)
    if not dash or start is None or end is None:
        return sign
    rows, columns = zip(divmod(start, board.width), divmod(end, board.width), strict=True)
    corners = (min(rows) * board.width + min(columns), max(rows) * board.width + max(columns))
    return "!" + "-".join(map(board.name, corners))
