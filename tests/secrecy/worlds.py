"""The same game in two worlds that differ in the secrets of one player, which others must not see.

A story is a list of mails, recorded in a first world. In the second world the same mails are sent
with other atoms and seals of one player. All nonces come from a counter, so a letter that does not
depend on the secrets is the same octet by octet.
"""

from __future__ import annotations

import itertools
import random
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import pytest
from headers import read
from indoors import PASSWORD, address_of
from one_process import Server
from random_moves import some_move, some_placement

from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.views import View
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow

SOLVER, HIDER, WATCHER = "solver", "hider", "watcher"


class World(Protocol):
    """A server to which mails can be sent."""

    @property
    def server(self) -> Server: ...

    def send(self, sender: str, subject: str, body: str, to: str) -> object:
        """Send a mail, and wait for its letters."""
        ...

    def letters(self) -> Iterable[tuple[str, bytes]]:
        """Return the recipients and octets of all letters so far, oldest first."""
        ...


@dataclass(frozen=True)
class Sent:
    """A mail of a story.

    Attributes:
        answers: number of the sender's letter that it replies to; ``None`` if it is not a reply.
        secret: the part that differs in the second world.
    """

    userid: str
    subject: str = ""
    body: str = ""
    answers: int | None = None
    secret: str = ""


@dataclass
class Played:
    """A story with the number of plies on the board after each mail."""

    seats: tuple[str, str]
    options: str
    mails: list[Sent] = field(default_factory=list)
    plies: list[int] = field(default_factory=list)


def draw_from_a_counter(patch: pytest.MonkeyPatch) -> None:
    """Let `secrets` return the same values in all worlds."""
    numbers = itertools.count(2)  # 1 is the key of reply addresses

    def token_bytes(count: int) -> bytes:
        return next(numbers).to_bytes(count, "big")

    patch.setattr(secrets, "token_bytes", token_bytes)
    patch.setattr(secrets, "token_hex", lambda count: token_bytes(count).hex())


_SHORT = rb"(?:=\r\n)?".join([rb"-" if at in {4, 9} else rb"[0-9a-f]" for at in range(14)])
"""The hash in the line below a letter, perhaps with a soft line break of quoted-printable."""

_HASH = re.compile(rb"\b[0-9a-f]{64}\b|\b" + _SHORT + rb"\b")


def with_numbered_hashes(letters: Iterable[bytes]) -> list[bytes]:
    """Return letters with a number for each different hash of a record, in their order.

    Hashes of hidden moves differ in two worlds, and are salted. But they must change at the same
    letters, else they would count moves that nobody may know of.
    """
    numbers: dict[bytes, int] = {}

    def numbered(match: re.Match[bytes]) -> bytes:
        digits = re.sub(rb"[^0-9a-f]", b"", match[0])[:12]
        return b"HASH%d" % numbers.setdefault(digits, len(numbers))

    return [_HASH.sub(numbered, letter) for letter in letters]


def letters_to(world: World, userid: str) -> list[bytes]:
    """Return the octets of all letters to a player so far, with numbers for hashes."""
    address = address_of(userid)
    return with_numbered_hashes(raw for recipient, raw in world.letters() if recipient == address)


def begin(world: World) -> None:
    """The three people of every story."""
    for userid in (SOLVER, HIDER, WATCHER):
        world.send(address_of(userid), f"signup {userid} {PASSWORD}", "", "")


def tell(world: World, mail: Sent) -> None:
    """Send a mail of a story."""
    to = ""
    if mail.answers is not None:
        letter = letters_to(world, mail.userid)[mail.answers]
        to = str(read(letter)["Reply-To"])
    subject = mail.subject.replace("SECRET", mail.secret)
    world.send(address_of(mail.userid), subject, mail.body.replace("SECRET", mail.secret), to)


def play(world: World, options: str, mails: int, dice: random.Random) -> Played:
    """Play a game at random and write down its story."""
    seats = (SOLVER, HIDER) if dice.random() < 0.5 else (HIDER, SOLVER)
    story = Played(seats, options)

    def add(mail: Sent) -> None:
        tell(world, mail)
        story.mails.append(mail)
        story.plies.append(board_of(world).plies)

    add(Sent(seats[0], f"blackbox challenge {seats[0]} {seats[1]} {options}"))
    hidden = some_placement(view_of(world, HIDER, seats).options, dice).lower()
    waits: list[Callable[[], None]] = [
        lambda: add(Sent(SOLVER, "Re: Blackbox", "accept", answers=1)),
        lambda: add(Sent(HIDER, f"blackbox move 1 {HIDER} {PASSWORD} SECRET", secret=hidden)),
        lambda: add(_of_solver(world, seats, dice)),
    ]
    dice.shuffle(waits)
    for wait in waits:
        wait()
    while len(story.mails) < mails and board_of(world).status != "finished":
        draw = dice.random()
        if draw < 0.15:
            shown = dice.choice(("show 1", "show 1#3", f"games {HIDER} all", f"show {HIDER}"))
            add(Sent(WATCHER, f"blackbox {shown}"))
        elif draw < 0.55:
            add(_of_solver(world, seats, dice))
        else:
            add(_of_hider(world, seats, dice))
    return story


def _of_solver(world: World, seats: tuple[str, str], dice: random.Random) -> Sent:
    """Anything that the one who must not know might send."""
    view = view_of(world, SOLVER, seats)
    letters = len(letters_to(world, SOLVER))
    draw = dice.random()
    if draw < 0.1:
        body = dice.choice(("show", "games", "chat\nWhere did you hide them?", "help", "undo"))
        return Sent(SOLVER, "Re: Blackbox", body, answers=letters - 1)
    if draw < 0.2:  # perhaps too late
        answers = dice.randrange(letters)
        return Sent(SOLVER, "Re: Blackbox", some_move(view, dice), answers=answers)
    if draw < 0.6:
        return Sent(SOLVER, "Re: Blackbox", some_move(view, dice), answers=letters - 1)
    return Sent(SOLVER, f"blackbox move 1 {SOLVER} {PASSWORD} {some_move(view, dice)}")


def _of_hider(world: World, seats: tuple[str, str], dice: random.Random) -> Sent:
    """A move of the one who has secrets: markers stand on even cells, seals on odd ones."""
    view = view_of(world, HIDER, seats)
    board = view.options.board
    elements = []
    if view.has_hidden and view.may_act and view.unused_ports and dice.random() < 0.7:
        elements.append(dice.choice(view.unused_ports))
    elements.append("+" + board.name(2 * dice.randrange(len(board.cells) // 2)))
    secret = ""
    if dice.random() < 0.7:
        elements.append("SECRET")
        secret = some_seals(view, dice)
    return Sent(
        HIDER, f"blackbox move 1 {HIDER} {PASSWORD} {','.join(elements)}", "", secret=secret
    )


def some_seals(view: View, dice: random.Random) -> str:
    """Two seals on odd cells, and a lock of any cell or row, with its markers."""
    board = view.options.board
    odd = dice.sample(range(1, len(board.cells), 2), 2)
    area = dice.choice([*board.left, board.name(dice.randrange(len(board.cells)))])
    word = dice.choice(["lock", "lock", "unlock"])
    return ",".join([*("!" + board.name(cell) for cell in odd), f"{word} {area}"])


def board_of(world: World) -> BoardRow:
    """The board of the story."""
    row = world.server.read(boards.load, 1)
    assert row is not None
    return row


def view_of(world: World, userid: str, seats: tuple[str, str]) -> View:
    """Return the view of this player now."""
    row = world.server.read(boards.load, 1)
    assert row is not None
    position = world.server.read(world.server.positions.newest, row)
    view: View = position.game.view(position.state, Seat(seats.index(userid)))
    return view
