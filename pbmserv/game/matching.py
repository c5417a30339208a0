"""Finds the move that a text means among the legal moves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

_Span: TypeAlias = tuple[int, int]
"""The first of some words in a row, and the place behind the last one."""

_MINUS = r"(?<!\w)(?<!\d )[-\u2212\u2013](?=\d)"
"""A sign: "bid -1" is not "bid 1". Between two numbers or behind a letter it is a dash: "13 -7"."""
_TOKEN = re.compile(rf"(?:{_MINUS})?[^\W_]+")
_PIECE = re.compile(rf"[^\W\d_]+\d+|(?:{_MINUS})?\d+|[^\W\d_]+")
_CELL = re.compile(r"([a-z]{1,2})([0-9]{1,2})")
_REVERSED = re.compile(r"([0-9]{1,2})([a-z]{1,2})")
_GAP = re.compile(r"(?<!\d) | (?!\d)")
"""A blank, unless it parts two numbers: "bid 1,2" is not "bid 12"."""
_SPLIT_CELL = re.compile(r"\b([^\W\d_]) (?=\d{1,2}\b)")
_ENGLISH = frozenset({"a", "i", "am", "an", "as", "at", "be", "do", "go", "he", "if", "no", "on"})
"""Words of sentences that do not name a move where other words stand around them."""
_JOINS = frozenset({"and", "or", "then"})
"""Words between two moves."""
_POLITE = frozenset({"please", "pls", "plz", "thanks", "thx", "now"})
"""Words behind a move, and not behind an article."""
_BESIDE = frozenset(
    word
    for words in (
        "i ll d m we my mine me a an the to at on in into from with for and is be it its this that",
        "am turn next first last move moves go goes going play plays put place set drop take",
        "choose pick try fire shoot attack bid enter column row cell square point field stone",
        "piece disc number please pls plz thanks thx ok okay yes sure now then so well hm hmm um",
        "let s lets will would like want think guess can could may",
        "start begin open respond reply answer with too of course center centre middle corner",
        "check checkmate dice cube",
        "ich spiele setze ziehe nehme auf nach bitte danke mein zug dann jetzt ist möchte",
        "je joue prends place mets en à le la il te plaît merci mon coup est",
        "juego pongo muevo pon por favor gracias mi jugada es voy",
        "gioco metto muovo mossa mia per grazie jogo coloco minha jogada obrigado",
        "ik speel zet mijn op graag jag spelar min drag är på tack jeg spiller",
        "gram stawiam na proszę mój ruch hraju prosím ja хожу играю на мой ход",
    )
    for word in words.split()
)
"""Words that may stand beside a move. Beside others, as in "I live at b4", a cell is only talk."""
_ARTICLES = frozenset({"the", "my", "your"})
_SPOKEN = re.compile(r"thank you", re.IGNORECASE)
_ASKS = re.compile(r"(?:please,? )?(?:can|could|may) i\b")
_NEGATES = re.compile(
    r"\b(?:not?|never|instead|(?:do|does|did|is|are|was|wo|would|ca|could|should)n['\u2019]?t)\b",
    re.IGNORECASE,
)
_MOST_LISTED = 8
_LONGEST = 8
"""Words that a move may have."""


def with_whole_cells(text: str) -> str:
    """Return a text in which a blank between the letter and the number of a cell is left out."""
    return _SPLIT_CELL.sub(r"\1", text)


def tokens(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text in small letters, without punctuation but a sign."""
    return tuple(_TOKEN.findall(text.casefold()))


def spelt(text: str, moves: Iterable[str]) -> str | None:
    """Return the move that the whole text spells, in any case and punctuation.

    ``B2``, ``b2``, ``b 2.`` and ``2B`` all spell the move ``B2``. `None` if none or several fit.
    """
    listed = list(moves)
    for spell in (_folded, tokens, _squeezed, _straightened):
        wanted = spell(text)
        if not wanted:
            continue
        fitting = [move for move in listed if spell(move) == wanted]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            return None
    return None


def among_words(
    text: str, moves: Iterable[str], *, beside: Collection[str] = frozenset()
) -> str | None:
    """Return the only move that occurs among the words of a text, such as "I play b2, thanks".

    A move cannot be taken back, so all other words must be words that people use to say a move.

    Args:
        beside: other words that may stand beside the move.
    """
    if _is_question(text):
        return None
    words = tokens(_SPOKEN.sub("thanks", text))
    named = _named_moves(words, moves)
    if len(named) != 1:
        return None
    ((move, (begin, end)),) = named.items()
    others = {*words[:begin], *words[end:]}
    return move if others <= _BESIDE.union(beside) else None


def only_named(text: str, moves: Iterable[str]) -> str | None:
    """Return the only move that a text names, among whatever words: "b2, ha ha"."""
    named = _named_moves(tokens(text), moves)
    return next(iter(named)) if len(named) == 1 else None


def negates(text: str) -> bool:
    """Return whether a sentence may say that its move is not meant: "no swap", "don't play b2"."""
    return _NEGATES.search(text) is not None


def _named_moves(words: Sequence[str], moves: Iterable[str]) -> dict[str, _Span]:
    """Return the moves that words name, each with the place of its first occurrence."""
    spans_by_text: dict[str, list[_Span]] = {}
    for begin in range(len(words)):
        for end in range(begin + 1, min(begin + _LONGEST, len(words)) + 1):
            spans_by_text.setdefault(_joined(words[begin:end]), []).append((begin, end))
    spans_by_move = {move: spans_by_text.get(_squeezed(move), []) for move in moves}
    starts = {begin for spans in spans_by_move.values() for begin, _ in spans}
    spans_by_move = {
        move: spans
        for move, spans in spans_by_move.items()
        if spans
        and (len(words) == 1 or move.casefold() not in _ENGLISH or _is_listed(words, spans, starts))
    }
    all_spans = [span for spans in spans_by_move.values() for span in spans]
    return {
        move: spans[0]
        for move, spans in spans_by_move.items()
        if not all(_is_inside_longer(span, all_spans) for span in spans)
    }


def _is_listed(words: Sequence[str], spans: Iterable[_Span], starts: Collection[int]) -> bool:
    """Return whether an English word that is also a move may be meant as one.

    It is in "B then A", "A then B", "A, B" and "A please", but not in "a disc in B".

    Args:
        starts: the places at which moves begin.
    """
    for begin, end in spans:
        if begin and words[begin - 1] in _JOINS:
            return True
        if end == len(words):
            continue
        following = end + (words[end] in _JOINS)
        if following in starts or words[end] in _POLITE:
            return True
    return False


def _is_inside_longer(span: _Span, others: Iterable[_Span]) -> bool:
    """Return whether a span is a part of a longer one, as e2 is of "e2 e4"."""
    begin, end = span
    return any(
        other_begin <= begin and end <= other_end and (other_begin, other_end) != span
        for other_begin, other_end in others
    )


def without_talk(text: str, *, keeping: Collection[str] = frozenset()) -> str:
    """Return a text without articles and the words around it that people use to say a move.

    "I play Nf3, thanks" becomes ``Nf3``; a question becomes ``""``.

    Args:
        keeping: words of the game, which are not left out.
    """
    if _is_question(text):
        return ""
    words = _SPOKEN.sub("thanks", text).split()
    talk = _BESIDE.difference(keeping)
    while words and talk.issuperset(tokens(words[0])):
        del words[0]
    while words and talk.issuperset(tokens(words[-1])):
        del words[-1]
    words = [word for word in words if word.casefold() not in _ARTICLES]
    return " ".join(words).strip(" ,;:.!")


def _is_question(text: str) -> bool:
    """Return whether a text asks something else than to make a move."""
    return "?" in text and not _ASKS.match(text.strip().casefold())


def beginning_with(text: str, moves: Iterable[str]) -> list[str]:
    """Return the moves of which the whole text spells the beginning, as ``e2`` does of ``e2e4``."""
    begun = pieces(text)
    if not begun:
        return []
    return [move for move in moves if pieces(move)[: len(begun)] == begun]


def pieces(text: str) -> tuple[str, ...]:
    """Return the parts that taps make a move of: ``e2e4`` has two, ``13/7 8/7`` has four."""
    return tuple(_PIECE.findall(text.casefold()))


def is_like(text: str, words: Iterable[str], *, freely: bool) -> bool:
    """Return whether a text looks like a move: names of cells, and words that moves have.

    Args:
        freely: whether any short token with a digit may be a part of a move.
    """
    text_tokens = tokens(text)
    known_tokens = {token for word in words for token in tokens(word)}
    return bool(text_tokens) and all(
        token in known_tokens or _is_named(token, freely) for token in text_tokens
    )


def _is_named(token: str, freely: bool) -> bool:
    """Return whether a token may name a cell."""
    if token.endswith(("st", "nd", "rd", "th")):
        return False
    if freely and len(token) <= _LONGEST:
        return any(letter.isdigit() for letter in token)
    return any(form.fullmatch(token) for form in (_CELL, _REVERSED))


def choices(moves: Sequence[str]) -> str:
    """Join moves as in "A1, B1 or C1", a few of them."""
    if len(moves) > _MOST_LISTED:
        return ", ".join(moves[:_MOST_LISTED]) + " and others"
    return " or ".join(filter(None, (", ".join(moves[:-1]), moves[-1])))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _squeezed(text: str) -> str:
    return _joined(tokens(text))


def _joined(words: Sequence[str]) -> str:
    return _GAP.sub("", " ".join(words))


def _straightened(text: str) -> tuple[str, ...]:
    """Return the tokens, names of cells with the letter in front."""
    straight = []
    for token in (_squeezed(text),) if _REVERSED.fullmatch(_squeezed(text)) else tokens(text):
        turned = _REVERSED.fullmatch(token)
        straight.append(f"{turned[2]}{turned[1]}" if turned else token)
    return tuple(straight)
