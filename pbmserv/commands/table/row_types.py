"""The shape of a catalogue row: its names, parameters, and what is built from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, Flag, auto
from functools import cached_property

from pbmserv.commands.table.model import BoardRef, Command, Credentials, Secret

NO_LIMIT = 1_000_000


class Kind(Enum):
    """What stands in a parameter's place."""

    BOARD = auto()
    USERID = auto()
    NEW_USERID = auto()
    PASSWORD = auto()
    NEW_PASSWORD = auto()
    MOVE = auto()  # the rest of the line, and perhaps its number
    PLAN = auto()  # the rest of the line, as it is
    DATE = auto()  # the rest of the line, with or without "until"
    SETTINGS = auto()  # name=value
    SEATS = auto()  # how many, and options; or "off"
    PLAYERS = auto()  # userids, options and times
    ALONE = auto()  # one userid, options and times
    RECIPIENTS = auto()  # userids to write to
    SHOWN = auto()  # boards, or userids and which of their boards
    WATCHED = auto()  # userids, or nobody, and which of their boards
    BOARDS = auto()  # boards, or which of them
    PEOPLE = auto()  # userids, or nobody
    ADDRESSES = auto()
    NEW_ADDRESSES = auto()  # at least one
    GAMES = auto()
    SUBJECTS = auto()  # of help

    @property
    def least(self) -> int:
        """The fewest words that can fill the place."""
        return _SHAPES[self][0]

    @property
    def most(self) -> int:
        """The most words that can fill the place."""
        return _SHAPES[self][1]

    @property
    def sample(self) -> str:
        """What an example has there, to be filled in; ``""`` where it is better left out."""
        return _SHAPES[self][2]

    @property
    def secret(self) -> bool:
        """Whether what stands there is never repeated."""
        return self in {Kind.PASSWORD, Kind.NEW_PASSWORD}


_SHAPES: Mapping[Kind, tuple[int, int, str]] = {
    Kind.BOARD: (1, 1, "BOARD"),
    Kind.USERID: (1, 1, "USERID"),
    Kind.NEW_USERID: (1, 1, "USERID"),
    Kind.PASSWORD: (1, 1, ""),
    Kind.NEW_PASSWORD: (1, 1, ""),
    Kind.MOVE: (1, NO_LIMIT, "MOVE"),
    Kind.PLAN: (1, NO_LIMIT, "PLAN"),
    Kind.DATE: (1, NO_LIMIT, "until DATE"),
    Kind.SETTINGS: (0, NO_LIMIT, "NAME=VALUE"),
    Kind.SEATS: (0, NO_LIMIT, ""),
    Kind.PLAYERS: (1, NO_LIMIT, "USERID FRIEND"),
    Kind.ALONE: (1, NO_LIMIT, "USERID"),
    Kind.RECIPIENTS: (1, NO_LIMIT, "FRIEND"),
    Kind.SHOWN: (1, NO_LIMIT, "BOARD"),
    Kind.WATCHED: (0, NO_LIMIT, "USERID"),
    Kind.BOARDS: (0, NO_LIMIT, ""),
    Kind.PEOPLE: (0, NO_LIMIT, ""),
    Kind.ADDRESSES: (0, NO_LIMIT, ""),
    Kind.NEW_ADDRESSES: (1, NO_LIMIT, "ADDRESS"),
    Kind.GAMES: (0, NO_LIMIT, ""),
    Kind.SUBJECTS: (0, NO_LIMIT, ""),
}


class Scope(Enum):
    """Whether a game's name stands in front."""

    GAME = "game"
    SERVER = "server"
    BOTH = "both"


class Place(Enum):
    """Where a command may stand."""

    LINE = "a subject or a line of the body"
    REPLY = "a reply to one of our letters"


LINES = frozenset({Place.LINE})
REPLIES = frozenset({Place.REPLY})


class Trait(Flag):
    """What is special about a command."""

    NONE = 0
    NEEDS_GAME = auto()  # it makes a board, so it must be clear of which game
    BARE = auto()  # it may stand without any of its arguments
    FINAL = auto()  # cannot be taken back, so a misspelt one is asked about and never guessed
    ALONE = auto()  # in a reply it counts only when nothing else stands on its line
    ENGLISH = auto()  # a sentence of a reply may begin with it as well
    TALK = auto()  # people answer each other's messages with it as well
    ANY_BOARD = auto()  # in a reply it may name a board by its number alone: it does no harm there
    WORDS = auto()  # words for others stand right below it
    LOOKS = auto()  # only its writer gets an answer, so that no words go with it


@dataclass(slots=True)
class Taken:
    """The arguments of one line, as far as they have been read."""

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
    subjects: tuple[str, ...] = ()

    @property
    def who(self) -> Credentials | None:
        """Userid and password, where the command has them."""
        return None if self.password is None else Credentials(self.userid, self.password)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One place behind the command: how help writes it, and what may stand there."""

    label: str
    kind: Kind

    @property
    def sample(self) -> str:
        """What an example puts there; ``""`` where it is better left out."""
        if self.kind.secret:
            return "NEWPASSWORD" if self.label == "new" else "PASSWORD"
        return self.kind.sample

    @property
    def rest(self) -> bool:
        """Whether the rest of the line stands there, for somebody else to read."""
        return self.kind in {Kind.MOVE, Kind.PLAN}


@dataclass(frozen=True)
class Row:
    """One command.

    Attributes:
        names: lower case, the first is the one we write; may be two words.
        synonyms: other words, short forms and foreign words that are understood but not advertised.
            Misspellings are recognised by `spelling` and not listed.
        section: heading in the help index.
        scope: whether a game stands in front.
        parameters: in order; only the last can take more than one word.
        summary: one line for the help index.
        example: a complete line that works.
        asks: the command; ``None`` for words that steer the reading (``quit``) and ask for
            nothing themselves.
        make: the command from its arguments, where its fields are not named like theirs.
        places: where it may stand.
        shares_page: the page under ``help/commands/``, if it is not its own.
        newcomers: words with which newcomers begin that suggest it.
        subjects: what else leads to its page.
        proof: its places with a userid and a password in them, where a writer may add these
            although the command needs none: they prove who writes.
    """

    names: tuple[str, ...]
    section: str
    scope: Scope
    parameters: tuple[Parameter, ...]
    summary: str
    example: str
    asks: type[Command] | None = None
    make: Callable[[Taken], Command] | None = None
    synonyms: tuple[str, ...] = ()
    places: frozenset[Place] = frozenset(Place)
    shares_page: str = ""
    newcomers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    traits: Trait = Trait.NONE
    proof: tuple[Parameter, ...] = ()

    @property
    def name(self) -> str:
        """The spelling we write ourselves."""
        return self.names[0]

    @property
    def page(self) -> str:
        """The name of its page under ``help/commands/``."""
        return self.shares_page or self.name

    def build(self, taken: Taken) -> Command:
        """The command that was asked for with these arguments.

        Raises:
            ValueError: the row steers the reading and is no command by itself.
        """
        if self.asks is None:
            raise ValueError(f"{self.name} asks for nothing by itself")
        if self.make is not None:
            return self.make(taken)
        return self.asks(**{name: getattr(taken, name) for name in self._taken})

    @cached_property
    def _taken(self) -> tuple[str, ...]:
        """Fields of the command that are arguments of its line."""
        assert self.asks is not None
        return tuple(one.name for one in fields(self.asks) if hasattr(Taken, one.name))

    @cached_property
    def least(self) -> int:
        """The fewest words behind the command."""
        return sum(parameter.kind.least for parameter in self.parameters)

    @cached_property
    def most(self) -> int:
        """The most words behind the command."""
        return sum(parameter.kind.most for parameter in self.parameters)

    @cached_property
    def secrets(self) -> tuple[int, ...]:
        """Places (0-based, behind the command) of what is never repeated."""
        return tuple(i for i, parameter in enumerate(self.parameters) if parameter.kind.secret)

    @cached_property
    def proving(self) -> Row | None:
        """The row with the writer's userid and password in it; ``None`` if it takes none."""
        return replace(self, parameters=self.proof) if self.proof else None

    @cached_property
    def takes_password_last(self) -> bool:
        """Whether a password that the command does not need may be its last word."""
        return bool(self.proof) and self.proof[-1].kind is Kind.PASSWORD

    @cached_property
    def may_be_vouched(self) -> bool:
        """Whether the password may be left out of a mail whose sender is proven.

        Not where a new one stands behind it: nobody could tell which of the two is missing.
        """
        kinds = {parameter.kind for parameter in self.parameters}
        return Kind.PASSWORD in kinds and Kind.NEW_PASSWORD not in kinds

    @cached_property
    def unnamed(self) -> Row | None:
        """The row for somebody who need not say who they are, since the mail shows it.

        ``None`` where nobody is named, or a password is chosen: see `may_be_vouched`.
        """
        kinds = {parameter.kind for parameter in self.parameters}
        if Kind.NEW_PASSWORD in kinds or kinds.isdisjoint(_NAMING):
            return None
        return self.without(Kind.USERID, Kind.PASSWORD)

    @property
    def in_reply(self) -> bool:
        """Whether a reply to a letter may consist of it."""
        return Place.REPLY in self.places

    @property
    def in_line(self) -> bool:
        """Whether it may be a subject or a line of the body."""
        return Place.LINE in self.places

    @cached_property
    def as_reply(self) -> Row:
        """The row in a reply, whose address says who speaks and of which board."""
        return self.without(Kind.BOARD, Kind.USERID, Kind.PASSWORD)

    def without(self, *known: Kind) -> Row:
        """The row without the places of what is known already; so no game is in front."""
        left = tuple(parameter for parameter in self.parameters if parameter.kind not in known)
        return replace(self, scope=Scope.SERVER, parameters=left)

    def form(self, game: str) -> str:
        """How the command is written, with *game* in front where one belongs."""
        front = (game,) if self.scope is Scope.GAME else ()
        return " ".join((*front, self.name, *(parameter.label for parameter in self.parameters)))


_NAMING = frozenset({Kind.USERID, Kind.PLAYERS, Kind.ALONE, Kind.SHOWN})
"""Places in which people name themselves."""

BOARD = Parameter("board", Kind.BOARD)
USERID = Parameter("userid", Kind.USERID)
PASSWORD = Parameter("password", Kind.PASSWORD)
ON_A_BOARD = (BOARD, USERID, PASSWORD)
