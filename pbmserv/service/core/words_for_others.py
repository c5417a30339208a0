"""The one guard through which the words of a player reach others, whatever mail brings them.

Letters take no other text as somebody's words than `Said`, which only this module makes. What is
left out its writer is told, with the answer to the same mail: nothing is lost without a word.

What a mail may quote, letters that its writer has got, is made once more from the record: their
kept bytes may be gone by then.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection

from pbmserv.commands.grammar.readings import Line, NotTried
from pbmserv.commands.grammar.words import LONGEST_PASSWORD, SHORTEST_PASSWORD, fold
from pbmserv.commands.reading.bodies import LONGEST_WORDS, LinesBelow
from pbmserv.commands.reading.quoted_lines import Quoted, bare
from pbmserv.commands.table.accounts import ChangePassword
from pbmserv.commands.table.starting import Challenge
from pbmserv.inbound.quotes.line_signs import is_closing
from pbmserv.mail.own_tokens import lines_with_tokens
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.budget import Work
from pbmserv.store.delivery import kept_letters
from pbmserv.store.delivery.outbox import QueuedLetter

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext

MOST_JOINED = 4
"""Words in a row that are looked at as one password with blanks in it."""

WORDS = "(your words)"
"""Stands in an answer for words that were not passed on; nothing of them is repeated."""

_NAME = re.compile(r"[^\W\d_]+")
_MOST_SIGNED = 8
_SIX_WORDS = re.compile(r"\S{2} \S+ \S+ \S+ \S+ \S")

_AROUND = ".,:;!?()[]{}<>\"'`*_~|/\\=+-"
_BETWEEN = re.compile(r"[\s=:/,;|()\[\]{}<>\"']+")


class Said(str):
    """A player's words that others may read. Nobody but this module makes any."""

    __slots__ = ()

    def __deepcopy__(self, _: dict[int, Any]) -> Said:
        return self


UNSAID = Said("")


@dataclass(frozen=True, slots=True)
class Writer:
    """The player whose words are to be passed on."""

    player_id: int
    userid: str


@dataclass(frozen=True, slots=True)
class Passed:
    """What others may read of some words, and what was left out and why."""

    said: Said
    left_out: tuple[Line, ...] = ()


def pass_on(context: CommandContext, written: str) -> Said:
    """What others may read of the words that the present speaker has written.

    What is left out, and why, the context notes for the answer.
    """
    if not written.strip():
        return UNSAID
    writer = _writer(context)
    if _is_signature(context, written, writer.userid):
        return UNSAID
    key = (writer.player_id, written)
    passed = context.passed.get(key)
    if passed is None:
        passed = context.passed[key] = _checked(context, writer, written)
    context.left_out.update(dict.fromkeys(passed.left_out))
    return passed.said


def _is_sentence(line: str) -> bool:
    """Whether a line without blanks around it ends as few lines of signatures do."""
    if line.endswith(("?", "!")):
        return True
    return line.endswith(".") and _SIX_WORDS.search(line[:-1]) is not None


def _is_signature(context: CommandContext, written: str, userid: str) -> bool:
    """Whether what stands below a command is no more than its writer's signature, which may tell an
    opponent a name and a place of work: a goodbye and what is below it, or a name alone.
    """
    lines = list(filter(None, map(str.strip, written.split("\n"))))
    if not 0 < len(lines) <= _MOST_SIGNED or any(map(_is_sentence, lines)):
        return False
    if is_closing(lines[0]):
        return len(lines) > 1
    local = context.incoming.mail.sender.partition("@")[0]
    names = {userid, *_NAME.findall(local.lower())}
    return len(lines) == 1 and names.issuperset(_NAME.findall(lines[0].lower()) or [""])


def again(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a letter in the record: what was said there has been passed on before."""
    return {**words, **{key: Said(words[key]) for key in ("said", "said_to") if key in words}}


def _writer(context: CommandContext) -> Writer:
    """Who speaks, which a handler has found out by now."""
    if context.sitter is not None:
        return Writer(context.sitter.player_id, context.sitter.userid)
    assert context.player is not None
    return Writer(context.player.id, context.player.userid)


def _has_proved(context: CommandContext, writer: Writer) -> bool:
    """Whether the mail proves to be this player's: by a password, a reply address or its sender.

    From alone, which may begin a challenge, proves nothing.
    """
    by_address = (
        context.reply_address is not None and context.reply_address.player == writer.player_id
    )
    proven = by_address or writer.player_id in context.proven
    return proven or context.verified_as(writer.userid) is not None


def _checked(context: CommandContext, writer: Writer, written: str) -> Passed:
    if not _has_proved(context, writer):
        unproven = NotTried("unproven", example=_with_password(context, writer))
        return Passed(UNSAID, (Line(WORDS, unproven),))
    below = LinesBelow(
        written.split("\n"), 0, frozenset(g.info.key for g in context.services.registry)
    )
    left_out = [*below.not_tried()]
    text = below.words()
    if _holds_password(context, writer, text):
        return Passed(UNSAID, (*left_out, Line(WORDS, NotTried("password"))))
    kept = text.split("\n")
    for why, places in (
        ("quoted", _quoted),
        ("link", partial(_with_tokens, context)),
        ("some-password", partial(_with_secrets, context)),
        ("letter", partial(_of_letters, context, writer)),
    ):
        found = places(kept)
        if found:
            left_out.append(Line(WORDS, NotTried(why)))
            kept = [line for at, line in enumerate(kept) if at not in found]
    return Passed(Said("\n".join(kept).strip()[:LONGEST_WORDS].rstrip()), tuple(left_out))


def _with_password(context: CommandContext, writer: Writer) -> str:
    """The challenge of this mail as it would prove who writes."""
    asked = next(
        (
            line.meaning
            for line in context.incoming.reading.lines
            if isinstance(line.meaning, Challenge)
        ),
        None,
    )
    if asked is None:
        return ""
    others = [userid for userid in asked.userids if userid != writer.userid]
    behind = (*others, *asked.options, *asked.times)
    return " ".join((asked.game, "challenge", writer.userid, "PASSWORD", *behind))


def _quoted(lines: Sequence[str]) -> set[int]:
    """The places of lines with the plainest of marks in front."""
    return {at for at, line in enumerate(lines) if line.lstrip().startswith(">")}


def _with_tokens(context: CommandContext, lines: Sequence[str]) -> set[int]:
    """Return the places of lines with a token of this server, which opens a seat or an account."""
    services = context.services
    return lines_with_tokens(services.mail_domain.ring, lines, services.secrets())


def _with_secrets(context: CommandContext, lines: Sequence[str]) -> set[int]:
    """The places of lines with a password that the same mail uses, right or wrong."""
    secrets = _typed(context)
    return {
        at
        for at, line in enumerate(lines)
        if any(one in line or one in fold(line) for one in secrets)
    }


def _typed(context: CommandContext) -> set[str]:
    """The passwords in the commands of the mail."""
    return {line.who.password.text for line in _read(context) if line.who is not None} - {
        "-",
        "",
    } | {
        line.meaning.new.text for line in _read(context) if isinstance(line.meaning, ChangePassword)
    }


def _read(context: CommandContext) -> Iterator[Line]:
    """The lines of the mail, in every way in which they can be read."""
    for line in context.incoming.reading.lines:
        yield line
        other = line.with_proof() if line.with_proof is not None else None
        if other is not None and other.who in context.incoming.checked:
            yield other


def _holds_password(context: CommandContext, writer: Writer, text: str) -> bool:
    """Whether a word, or some in a row, is known as the writer's password.

    Then none of the words are passed on. Were it only the line, whoever has got hold of a reply
    address could write five hundred guesses to an accomplice, who sees which of them is missing.
    """
    known = context.services.memo.recent
    # Whoever has typed one in this mail knows it already.
    return any(known(writer.userid, one) for one in _possible_passwords(text) - _typed(context))


def _possible_passwords(text: str) -> set[str]:
    """The words of a text, and some in a row, with and without punctuation around them."""
    words = fold(text.replace("\n", " ")).split()
    runs = (
        " ".join(words[at : at + length])
        for length in range(1, MOST_JOINED + 1)
        for at in range(len(words) - length + 1)
    )
    found = set(chain.from_iterable(map(_bared, chain(runs, _BETWEEN.split(fold(text))))))
    return {one for one in found if SHORTEST_PASSWORD <= len(one) <= LONGEST_PASSWORD}


def _bared(run: str) -> Iterator[str]:
    """A run of words as it is, and without punctuation in front, behind, or both."""
    yield run
    yield run.strip(_AROUND)
    yield run.rstrip(_AROUND)
    yield run.lstrip(_AROUND)


def _of_letters(context: CommandContext, writer: Writer, lines: Sequence[str]) -> set[int]:
    """The places of lines that stand in letters of ours to their writer."""
    if not any(map(str.strip, lines)):
        return set()
    letters = letters_before(context, writer.player_id)
    return Quoted(letters.texts, letters.said, letters.own).quoted_places(lines)


class Letters(Protocol):
    """Makes letters from their rows."""

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Text and perhaps HTML of a letter; nothing if it cannot be made any more.

        It may be asked inside of a transaction and must remember nothing of what it sees there.
        """


@dataclass(frozen=True, slots=True)
class Before:
    """The texts of letters without what people say in them; what others and their reader say."""

    texts: tuple[str, ...]
    said: tuple[str, ...]
    own: tuple[str, ...]


def letters_before(context: CommandContext, player_id: int) -> Before:
    """The letters to a player that a mail of theirs may quote.

    Those that its headers name, and the newest ones: of the board that is spoken of, and at all.
    Nobody else's, whatever the headers say, or one could find out what stands in them.

    Raises:
        TooMuch: the mail has spent what it may.
    """
    reply_address = context.reply_address
    is_digest = reply_address is not None and reply_address.purpose is Purpose.TRAY
    rows = kept_letters.answerable(
        context.connection,
        player_id,
        context.incoming.mail.answers,
        board_id=context.focus.board.id if context.focus is not None else None,
        letter_id=reply_address.about if reply_address is not None and is_digest else None,
    )
    texts = tuple(text for row in rows for text in _texts(context, row))
    found = [one for row in rows for one in _said(row.words)]
    return Before(
        texts,
        tuple(said for by, said in found if by),
        tuple(said for by, said in found if not by),
    )


def _texts(context: CommandContext, row: QueuedLetter) -> tuple[str, ...]:
    """What stands in a letter; each is made once for a mail, however many of its words need it."""
    known = context.reread.get(row.id)
    if known is None:
        context.budget.spend(Work.LETTER)
        context.budget.spend(Work.DRAWN, _parts(row.words))
        silent = replace(row, words=_silent(row.words))
        made = context.services.letters.texts(context.connection, silent)
        known = tuple(html.unescape(bare(text)) if "</" in text else text for text in made)
        context.reread[row.id] = known
    return known


def _parts(words: Mapping[str, Any]) -> int:
    """How many letters a digest or a summary is made of, each perhaps with a board."""
    listed = (words.get(key, ()) for key in ("waiting", "news", "lines"))
    return sum(len(one) for one in listed)


def _silent(words: Any) -> Any:
    """The words of a letter without what people say in it.

    What they say is looked for apart: cut out of the text, it could take something else with it
    that an opponent has repeated on purpose.
    """
    match words:
        case Mapping():
            return {key: "" if key == "said" else _silent(one) for key, one in words.items()}
        case list():
            return [_silent(one) for one in words]
        case _:
            return words


def _said(words: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who says what in a letter, wherever it stands in it; its reader says it as ``""``.

    So does a refusal, which repeats its reader's line: what names no cell may be said once more.
    """
    for key, value in words.items():
        if key == "said" and isinstance(value, str):
            yield words.get("by", ""), value
        elif key == "echo" and isinstance(value, str) and not any(map(str.isdigit, value)):
            yield "", value
        elif isinstance(value, Mapping):
            yield from _said(value)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    yield from _said(one)
