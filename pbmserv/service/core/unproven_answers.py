"""Answers to an address that may not be the writer's own: they repeat no words of the mail.

Anybody can write a mail in somebody else's name. An answer carries our signature, so if it repeated
the mail's words, a stranger could have us send an advertisement or a link to anybody. Such answers
repeat words of the catalogue, numbers, and at most one other word, which looks like a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from pbmserv.commands.grammar.words import OFF, PLAN_WORDS, POLITE, SETTINGS, fold, is_userid
from pbmserv.commands.table.catalogue import ROWS, WHICH, suggested_command
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import is_form
from pbmserv.store.accounts import players

if TYPE_CHECKING:
    from pbmserv.service.core.context import CommandContext
    from pbmserv.service.core.results import CommandResult, Part

BLANK = "***"
SHORTEST = 3
"""Characters of a word of the mail that an answer must not hold; shorter ones tell nothing."""

MOST_NAMES = 100
"""Names that are looked up for an answer."""

_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W_]+")
_EDGES = "\"'.,;:!?()[]{}<>*"
_SEPARATORS = re.compile(r"[=@,+/:#-]+")
_NUMBER = re.compile(
    r"[a-z]?[0-9]{1,9}[a-z]?|[0-9]{1,3}x[0-9]{1,3}|[a-z]|[0-9]{1,3}[dhm][0-9]{1,3}[hm]"
)
"""Numbers, ports, cells, sizes and times."""

_FORMS = (
    "userid password newpassword oldpassword address newaddress friend move plan board date name"
    " value your words until line new old game and the pw confirm html text spoken ask auto always"
    " on daily weekly rated unrated practice time atoms size nagtime forfeittime totaltime line"
)
"""Words of our examples and settings that no row of the catalogue has."""


def may_be_forged(context: CommandContext, readers: Iterable[int | None]) -> bool:
    """Whether answers go to a From address that nothing shows to be the writer's own.

    Args:
        readers: player ids of those who get the answers; ``None`` for an address alone.
    """
    incoming = context.incoming
    if context.unproven:
        return True
    if incoming.verdict.passed or None not in set(readers):
        return False
    if context.services.traffic.is_usual(incoming.mail.sender, incoming.source):
        return False
    if incoming.reply_address is None or not incoming.reply_address.player:
        return True
    player = players.by_id(context.connection, incoming.reply_address.player)
    return (
        player is None
        or player.reply_epoch != incoming.reply_address.epoch
        or incoming.mail.sender.lower() not in players.addresses_of(context.connection, player.id)
    )


def without_foreign_words(
    context: CommandContext, results: Sequence[CommandResult]
) -> list[CommandResult]:
    """Return the results with only those words of the mail that anybody may be sent."""
    mail = context.incoming.mail
    words = _Words(
        context.connection,
        frozenset(_vocabulary(context)),
        mail.sender.lower(),
        f"{mail.subject}\n{context.incoming.text}\n{mail.text}",
    )
    return [_without(words, one) for one in results]


def _vocabulary(context: CommandContext) -> Iterable[str]:
    yield from _catalogue_words()
    for game in context.services.registry:
        info = game.info
        texts = (info.key, info.title, *(word for pair in info.options for word in pair))
        yield from _LETTERS.findall(" ".join(texts).lower())


@cache
def _catalogue_words() -> frozenset[str]:
    """The words of commands, of their examples and of what is said about them."""
    texts = [_FORMS, *SETTINGS, *WHICH, *BOT_USERIDS, *POLITE, *OFF, *PLAN_WORDS]
    for row in ROWS:
        texts += (row.summary, row.section, *row.names, *row.synonyms)
        texts += (*row.newcomers, *row.subjects)
        texts += [parameter.label for parameter in row.parameters]
    return frozenset(_LETTERS.findall(" ".join(texts).lower()))


@dataclass
class _Words:
    """Decides which words of a mail may be repeated.

    Attributes:
        vocabulary: in lower case.
        sender: the From address.
        written: all that the mail says.
        names: whether players are called so, as far as that was looked up.
        other: the one word that is neither the catalogue's nor a number; "" as long as none was
            needed. Whether somebody is called so makes no difference.
    """

    connection: Connection

    vocabulary: frozenset[str]
    sender: str
    written: str
    names: dict[str, bool] = field(default_factory=dict)
    other: str = ""

    @cached_property
    def folded(self) -> str:
        return fold(self.written).lower()

    @cached_property
    def pieces(self) -> frozenset[str]:
        return frozenset(_LETTERS.findall(self.folded))

    def is_known(self, word: str) -> bool:
        """Whether a word is the catalogue's, a number, or the reader's own address."""
        return not self._unknown(word)

    def _unknown(self, word: str) -> set[str]:
        """Return the pieces of a word that may not be repeated as the catalogue's or as numbers."""
        bare = word.strip(_EDGES).lower()
        own = self.sender.partition("@")[0]
        if bare == self.sender:
            return set()
        unknown = {
            piece
            for piece in _SEPARATORS.split(bare)
            if piece not in self.vocabulary
            and piece not in own
            and _NUMBER.fullmatch(piece) is None
            and not (piece.isascii() and piece.isalpha() and suggested_command(piece) is not None)
        }
        return {bare} if unknown and is_userid(bare) and not bare.startswith("-") else unknown

    def _allow_one(self, unknown: set[str]) -> None:
        """Allow the only unknown word of a text if it looks like a name, and is the first one."""
        if len(unknown) == 1 and not self.other:
            (word,) = unknown
            self.other = word if is_userid(word) else ""

    def is_foreign(self, word: str) -> bool:
        """Whether a word of a letter comes from the mail and may not be repeated."""
        bare = word.strip(_EDGES).lower()
        if self._unknown(word) <= {self.other} or self._is_name(bare):
            return False
        if len(bare) >= SHORTEST and bare in self.folded:
            return True
        return any(
            len(piece) >= SHORTEST and piece in self.pieces and not self.is_known(piece)
            for piece in _LETTERS.findall(bare)
        )

    def _is_name(self, word: str) -> bool:
        """Whether a player is called so, of whom this letter tells something anyway."""
        if not is_userid(word):
            return False
        if word not in self.names and len(self.names) < MOST_NAMES:
            self.names[word] = players.of_name(self.connection, word) is not None
        return self.names.get(word, False)

    def known(self, text: str, *, names: bool) -> str:
        """Return a text of which every word is one that may be repeated; others are blanked.

        Args:
            names: names of players may be, too: the text is of a refusal, which may say who plays.
        """
        unknown = {word: self._unknown(word) for word in text.split()}
        if names:
            unknown = {word: set(filterfalse(self._is_name, unknown[word])) for word in unknown}
        self._allow_one(set().union(*unknown.values()))
        return _blanked(text, lambda word: not unknown[word] <= {self.other})

    def own(self, text: str) -> str:
        """Return a text of ours without words of the mail that may not be repeated."""
        return _blanked(text, self.is_foreign)


def _blanked(text: str, is_bad: Callable[[str], bool]) -> str:
    blanked = _WORD.sub(lambda match: BLANK if is_bad(match[0]) else match[0], text)
    return re.sub(r"\*\*\*(?: \*\*\*)+", BLANK, blanked) if blanked != text else text


def _without(words: _Words, one: CommandResult) -> CommandResult:
    parts = tuple(_part(words, part) for part in one.parts)
    stopped = one.stopped
    if stopped is not None:
        stopped = replace(stopped, example=_example(words, stopped.example))
    echo = words.known(one.echo, names=one.status == "refused")
    return replace(one, echo=echo, parts=parts, stopped=stopped)


def _part(words: _Words, part: Part) -> Part:
    if part.letter != "refusal":
        return replace(part, words=_leaves(words, part.words))
    refusal = part.words["refusal"]
    wrong = words.known(refusal["part"], names=True)
    echo = words.known(part.words["echo"], names=True)
    values = {
        key: words.own(value) if isinstance(value, str) else value
        for key, value in refusal["values"].items()
    }
    example = _example(words, refusal["example"])
    refused = {**refusal, "part": wrong, "example": example, "values": values}
    return replace(part, words={**part.words, "refusal": refused, "echo": echo})


def _example(words: _Words, example: str) -> str:
    """Return an example all of which may be repeated; in a form an address is to be filled in."""
    if is_form(example):
        example = " ".join(
            word if "@" not in word or words.is_known(word) else "ADDRESS"
            for word in example.split(" ")
        )
    return example if words.known(example, names=True) == example else ""


def _leaves(words: _Words, value: Any) -> Any:
    """The words of another letter. One word that looks like a name is a userid, or says which of
    its sentences a template takes."""
    match value:
        case str():
            return value if is_userid(value) else words.own(value)
        case Mapping():
            return {key: _leaves(words, one) for key, one in value.items()}
        case list() | tuple():
            return [_leaves(words, one) for one in value]
    return value
