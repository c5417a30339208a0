"""The type of the rows in the table of commands, and the types of their parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from enum import Enum, Flag, auto
from functools import cached_property

from pbmserv.commands.table.command_types import BoardRef, Command, Credentials, Secret

NO_LIMIT = 1_000_000


class Kind(Enum):
    """The kind of words that a parameter takes.

    Attributes:
        max_words: the greatest number of them.
        sample: words that an example has in the place, ``""`` if it leaves the place out.
    """

    BOARD = "the number of a board", 1, "BOARD"
    USERID = "a player", 1, "USERID"
    NEW_USERID = "a userid that is free", 1, "USERID"
    PASSWORD = "the password of the player", 1, ""
    NEW_PASSWORD = "a password to be", 1, ""
    MOVE = "the rest of the line, and perhaps the number of the move", NO_LIMIT, "MOVE"
    PLAN = "the rest of the line, as written", NO_LIMIT, "PLAN"
    DATE = 'the rest of the line, with or without "until"', NO_LIMIT, "until DATE"
    SETTINGS = "settings, name=value", NO_LIMIT, "NAME=VALUE"
    SEATS = 'a number of seats and options, or "off"', NO_LIMIT, ""
    PLAYERS = "userids, options and times", NO_LIMIT, "USERID FRIEND"
    ALONE = "one userid, options and times", NO_LIMIT, "USERID"
    RECIPIENTS = "userids of the readers of a message", NO_LIMIT, "FRIEND"
    SHOWN = 'boards, or userids and a word such as "all"', NO_LIMIT, "BOARD"
    WATCHED = 'userids, and a word such as "all"', NO_LIMIT, "USERID"
    BOARDS = 'boards, or a word such as "all"', NO_LIMIT, ""
    PEOPLE = "userids", NO_LIMIT, ""
    ADDRESSES = "mail addresses", NO_LIMIT, ""
    GAMES = "games", NO_LIMIT, ""
    SUBJECTS = "subjects of help", NO_LIMIT, ""
    TEXT = "the rest of the line, in lower case", NO_LIMIT, ""
    WORDS = "any words, as written", NO_LIMIT, ""

    def __init__(self, _meaning: str, max_words: int, sample: str) -> None:
        self.max_words = max_words
        self.sample = sample

    @property
    def secret(self) -> bool:
        """Whether the words are kept out of answers."""
        return self in {Kind.PASSWORD, Kind.NEW_PASSWORD}


class Scope(Enum):
    """The use of a game's name in front of a command."""

    GAME = "game"
    SERVER = "server"
    BOTH = "both"


class Place(Enum):
    """The places where a command may be written."""

    LINE = "a subject or a line of the body"
    REPLY = "a reply to one of our letters"


LINES = frozenset({Place.LINE})
REPLIES = frozenset({Place.REPLY})


class Trait(Flag):
    """Properties that a command may have."""

    NONE = 0
    NEEDS_GAME = auto()  # makes a board; a mail that names no game means the first one
    BARE = auto()  # may be written without any arguments
    FINAL = auto()  # cannot be taken back, so a misspelt name is asked about and never guessed
    ALONE = auto()  # in a reply, counts only if nothing else is on its line
    ENGLISH = auto()  # its name may also begin a sentence of a reply
    TALK = auto()  # people also answer each other's messages with this word
    ANY_BOARD = auto()  # harmless at any board, so a reply may name another one by its number
    WORDS = auto()  # words for other players follow on the next lines
    BOXES = auto()  # only for games that one player may play alone
    LOOKS = auto()  # only the sender gets an answer, so no words are passed on


@dataclass(slots=True)
class Arguments:
    """The arguments of one line, filled in while they are read."""

    game: str | None = None
    board: int | None = None
    number: int | None = None
    userid: str = ""
    password: Secret | None = None
    new: Secret = field(default_factory=lambda: Secret(""))
    text: str = ""
    begins: str = ""
    until: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    seats: int | None = None
    off: bool = False
    boards: tuple[BoardRef, ...] = ()
    userids: tuple[str, ...] = ()
    which: str = "active"
    options: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def credentials(self) -> Credentials | None:
        """Userid and password, `None` if the line has no password."""
        return None if self.password is None else Credentials(self.userid, self.password)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a command.

    Attributes:
        label: its name on help pages, in brackets if it may be left out.
        kind: the kind of words it takes.
        usual: its words in an example, if those of the kind do not fit.
    """

    label: str
    kind: Kind
    usual: str = ""

    @property
    def sample(self) -> str:
        """Words that an example has in the place, ``""`` if it leaves the place out."""
        if self.kind.secret:
            return "NEWPASSWORD" if self.label == "new" else "PASSWORD"
        return self.usual or self.kind.sample

    @property
    def is_optional(self) -> bool:
        return self.label.startswith("[")

    @property
    def rest(self) -> bool:
        """Whether the parameter takes the rest of the line, for the game or for a plan."""
        return self.kind in {Kind.MOVE, Kind.PLAN}


@dataclass(frozen=True)
class Row:
    """One command of the table. `shapes` makes rows.

    Attributes:
        names: spellings in lower case, some of two words; letters and pages use the first.
        scope: whether the name of a game stands in front.
        parameters: in order; only the last may take more than one word.
        summary: one line for the help index.
        example: a complete line that works.
        command: the type of the command; `None` for words that steer the reading (``quit``).
        from_arguments: makes the command if its fields have other names than the arguments.
        section: heading in the help index.
        synonyms: other words, short forms and foreign words that are understood but that no page
            mentions. Misspellings are recognised by `spelling` and not listed.
        places: where the command may be written.
        shares_page: the page under ``help/commands/`` if the command has none of its own.
        newcomers: words of newcomers for which an answer suggests the command.
        subjects: further words that lead to its help page.
        proof: the parameters with userid and password for a command that needs neither. A writer
            may add them to prove who writes.
    """

    names: tuple[str, ...]
    scope: Scope
    parameters: tuple[Parameter, ...]
    summary: str
    example: str
    command: type[Command] | None = None
    from_arguments: Callable[[Arguments], Command] | None = None
    section: str = ""
    synonyms: tuple[str, ...] = ()
    places: frozenset[Place] = frozenset(Place)
    shares_page: str = ""
    newcomers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    traits: Trait = Trait.NONE
    proof: tuple[Parameter, ...] = ()

    @property
    def name(self) -> str:
        """The spelling that letters and pages use."""
        return self.names[0]

    @property
    def page(self) -> str:
        """The name of the page under ``help/commands/``."""
        return self.shares_page or self.name

    def build(self, arguments: Arguments) -> Command:
        """Return the command with these arguments.

        Raises:
            ValueError: the row steers the reading and is not a command.
        """
        if self.command is None:
            raise ValueError(f"{self.name} asks for nothing by itself")
        if self.from_arguments is not None:
            return self.from_arguments(arguments)
        return self.command(**{name: getattr(arguments, name) for name in self._fields})

    @cached_property
    def _fields(self) -> tuple[str, ...]:
        """The fields of the command that are arguments of its line."""
        assert self.command is not None
        return tuple(field.name for field in fields(self.command) if hasattr(Arguments, field.name))

    @cached_property
    def min_words(self) -> int:
        """The least number of words after the name."""
        return sum(not parameter.is_optional for parameter in self.parameters)

    @cached_property
    def max_words(self) -> int:
        """The greatest number of words after the name."""
        return sum(parameter.kind.max_words for parameter in self.parameters)

    @cached_property
    def secrets(self) -> tuple[int, ...]:
        """Indices of the secret words after the name."""
        return tuple(i for i, parameter in enumerate(self.parameters) if parameter.kind.secret)

    @cached_property
    def with_proof(self) -> Row | None:
        """The row with the writer's userid and password, `None` if the command takes none."""
        return replace(self, parameters=self.proof) if self.proof else None

    @cached_property
    def takes_password_last(self) -> bool:
        """Whether the last word may be a password that the command does not need."""
        return bool(self.proof) and self.proof[-1].kind is Kind.PASSWORD

    @cached_property
    def may_be_vouched(self) -> bool:
        """Whether a mail from a proven sender may leave out the password.

        It may not if a new password follows, since one word could be either of the two.
        """
        kinds = {parameter.kind for parameter in self.parameters}
        return Kind.PASSWORD in kinds and Kind.NEW_PASSWORD not in kinds

    @cached_property
    def without_writer(self) -> Row | None:
        """The row without the writer's userid and password, for mails that show who writes.

        `None` if the command names no writer or takes a new password; see `may_be_vouched`.
        """
        kinds = {parameter.kind for parameter in self.parameters}
        if Kind.NEW_PASSWORD in kinds or kinds.isdisjoint(_NAMING):
            return None
        return self.without(Kind.USERID, Kind.PASSWORD)

    @property
    def in_reply(self) -> bool:
        """Whether a reply to a letter may consist of the command."""
        return Place.REPLY in self.places

    @property
    def in_line(self) -> bool:
        """Whether the command may be a subject or a line of the body."""
        return Place.LINE in self.places

    @cached_property
    def as_reply(self) -> Row:
        """The row in a reply, whose address tells the player and the board."""
        return self.without(Kind.BOARD, Kind.USERID, Kind.PASSWORD)

    def without(self, *kinds: Kind) -> Row:
        """Return the row without the parameters of these kinds, and without a game in front."""
        parameters = tuple(p for p in self.parameters if p.kind not in kinds)
        return replace(self, scope=Scope.SERVER, parameters=parameters)

    def form(self, game: str) -> str:
        """Return how help pages write the command, with *game* in front if one belongs there."""
        front = (game,) if self.scope is Scope.GAME else ()
        return " ".join((*front, self.name, *(parameter.label for parameter in self.parameters)))


_NAMING = frozenset({Kind.USERID, Kind.PLAYERS, Kind.ALONE, Kind.SHOWN})
"""Kinds of parameters in which writers name themselves."""

BOARD = Parameter("board", Kind.BOARD)
USERID = Parameter("userid", Kind.USERID)
PASSWORD = Parameter("password", Kind.PASSWORD)
ON_A_BOARD = (BOARD, USERID, PASSWORD)
