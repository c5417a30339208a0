"""Blanks words of the mail in answers to an address that may not be the writer's own.

Anybody can write a mail in somebody else's name. An answer carries our signature, so if it repeated
the mail's words, a stranger could have us send an advertisement or a link to anybody. Such answers
repeat words of the catalogue, numbers, and at most one other word, which looks like a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import filterfalse
from typing import Any

from sqlalchemy import Connection

from pbmserv.commands.grammar.game_names import plain_name
from pbmserv.commands.grammar.readings import BLANK
from pbmserv.commands.grammar.word_forms import OFF, SETTINGS, is_userid
from pbmserv.commands.grammar.words import POLITE, fold
from pbmserv.commands.table.catalogue import ROWS, WHICH, suggested_command
from pbmserv.engine.plans import PLAN_WORDS
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import is_form
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Part
from pbmserv.store.accounts import players

SHORTEST = 3
"""Length of the shortest word of the mail that an answer must not hold."""

MOST_NAMES = 100
"""Names that are looked up for one answer."""

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
    " tiny"
    " on daily weekly rated unrated practice time atoms size nagtime forfeittime totaltime cap line"
)
"""Words of our examples and settings that no row of the catalogue has."""


def _vocabulary(registry: Registry) -> Iterator[str]:
    yield from _catalogue_words()
    for game in registry:
        info = game.info
        texts = (info.key, info.title, *(word for pair in info.options for word in pair))
        yield from _LETTERS.findall(" ".join(texts).lower())
        yield plain_name(info.title)
        for word in info.title.lower().split():  # "liar's", also written "liars"
            yield from (word, plain_name(word))


@cache
def _catalogue_words() -> frozenset[str]:
    """Return the words of commands, of their parameters and of their descriptions."""
    texts = [_FORMS, *SETTINGS, *WHICH, *BOT_USERIDS, *POLITE, *OFF, *PLAN_WORDS]
    for row in ROWS:
        texts += (row.summary, row.section, *row.names, *row.synonyms)
        texts += (*row.newcomers, *row.subjects)
        texts += [parameter.label for parameter in row.parameters]
    return frozenset(_LETTERS.findall(" ".join(texts).lower()))


@dataclass
class Blanking:
    """Decides which words of a mail an answer may repeat, and blanks the others.

    The order of calls matters, since the first unknown word that looks like a name is allowed.

    Attributes:
        vocabulary: words that may always be repeated, in lower case.
        sender: the From address.
        written: everything that the mail says.
        names: results of looking up words as userids.
        allowed_word: the one word that is allowed although it is neither in the vocabulary nor a
            number; ``""`` as long as none was needed. It need not be a userid.
    """

    connection: Connection
    vocabulary: frozenset[str]
    sender: str
    written: str
    names: dict[str, bool] = field(default_factory=dict)
    allowed_word: str = ""

    @classmethod
    def of_mail(cls, context: CommandContext) -> Blanking:
        """Return what an answer to this mail may repeat."""
        submission = context.submission
        return cls(
            context.connection,
            frozenset(_vocabulary(context.services.registry)),
            context.actor.address.lower(),
            f"{submission.subject}\n{submission.text}\n{submission.whole_text}",
        )

    @cached_property
    def folded(self) -> str:
        return fold(self.written).lower()

    @cached_property
    def pieces(self) -> frozenset[str]:
        return frozenset(_LETTERS.findall(self.folded))

    def part(self, part: Part) -> Part:
        """Return a part of an answer with blanks."""
        if part.letter != "refusal":
            return replace(part, words=self._values(part.words))
        refusal = part.words["refusal"]
        wrong = self.blank_unknown(refusal["part"], keep_userids=True)
        echo = self.blank_unknown(part.words["echo"], keep_userids=True)
        values = {
            key: self.blank_foreign(value) if isinstance(value, str) else value
            for key, value in refusal["values"].items()
        }
        example = self.example(refusal["example"])
        blanked = {**refusal, "part": wrong, "example": example, "values": values}
        return replace(part, words={**part.words, "refusal": blanked, "echo": echo})

    def example(self, example: str) -> str:
        """Return an example if all of it may be repeated, else ``""``. An address in a form becomes
        a placeholder."""
        if is_form(example):
            example = " ".join(
                word if "@" not in word or self.is_known(word) else "ADDRESS"
                for word in example.split(" ")
            )
        return example if self.blank_unknown(example, keep_userids=True) == example else ""

    def _values(self, value: Any) -> Any:
        """Return the words of other letters with blanks. A single word that looks like a name is a
        userid, or chooses a sentence of the template."""
        match value:
            case str():
                return value if is_userid(value) else self.blank_foreign(value)
            case Mapping():
                return {key: self._values(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self._values(inner) for inner in value]
        return value

    def is_known(self, word: str) -> bool:
        """Return whether a word is in the vocabulary, a number, or the reader's own address."""
        return not self._unknown(word)

    def _unknown(self, word: str) -> set[str]:
        """Return the pieces of a word that are neither in the vocabulary nor numbers."""
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
        """Allow the only unknown word of a text if it looks like a name, once."""
        if len(unknown) == 1 and not self.allowed_word:
            (word,) = unknown
            self.allowed_word = word if is_userid(word) else ""

    def is_foreign(self, word: str) -> bool:
        """Return whether a word of a letter comes from the mail and must be blanked."""
        bare = word.strip(_EDGES).lower()
        if self._unknown(word) <= {self.allowed_word} or self._is_name(bare):
            return False
        if len(bare) >= SHORTEST and bare in self.folded:
            return True
        return any(
            len(piece) >= SHORTEST and piece in self.pieces and not self.is_known(piece)
            for piece in _LETTERS.findall(bare)
        )

    def _is_name(self, word: str) -> bool:
        """Return whether a word is a userid; this letter is about its player anyway."""
        if not is_userid(word):
            return False
        if word not in self.names and len(self.names) < MOST_NAMES:
            self.names[word] = players.account_of(self.connection, word) is not None
        return self.names.get(word, False)

    def blank_unknown(self, text: str, *, keep_userids: bool) -> str:
        """Return a text with blanks for all words that are not known.

        Args:
            keep_userids: userids may stay: the text belongs to a refusal, which may say who plays.
        """
        unknown = {word: self._unknown(word) for word in set(text.split())}
        if keep_userids:
            unknown = {word: set(filterfalse(self._is_name, unknown[word])) for word in unknown}
        self._allow_one(set().union(*unknown.values()))
        return _blanked(text, lambda word: not unknown[word] <= {self.allowed_word})

    def blank_foreign(self, text: str) -> str:
        """Return a text of ours with blanks for words that come from the mail."""
        return _blanked(text, self.is_foreign)


def _blanked(text: str, is_bad: Callable[[str], bool]) -> str:
    blanked = _WORD.sub(lambda match: BLANK if is_bad(match[0]) else match[0], text)
    return re.sub(r"\*\*\*(?: \*\*\*)+", BLANK, blanked) if blanked != text else text
