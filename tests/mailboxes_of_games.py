"""Games that are played by mail to their end, and the mailbox that each player has then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from headers import written
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.engine.position import Position, bot_move
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.verifying.checking import verdicts
from pbmserv.verifying.findings import Verdict
from pbmserv.verifying.letters import Mailbox

MOST = 400
"""The most moves of a game."""
FEW = 3
"""The moves that a bot plays if a test does not ask for more."""


@dataclass
class Played:
    """A game by mail.

    Attributes:
        mails: the octets of all mails that a player sent and got, by userid.
        letters: the letters that a player got.
    """

    world: Indoors
    names: tuple[str, ...]
    number: int = 0
    mails: dict[str, list[bytes]] = field(default_factory=dict)
    letters: dict[str, list[Posted]] = field(default_factory=dict)

    def send(
        self, userid: str, subject: str, body: str = "", to: str = "", answers: str = ""
    ) -> None:
        """Send a mail, which stays in its writer's mailbox."""
        self.number += 1
        house = self.world.server.mail_domain.address
        named = {
            "From": address_of(userid),
            "To": to or house,
            "Subject": subject,
            "Message-ID": f"<{self.number}.{userid}@players.example>",
            "Date": "Thu, 5 Mar 2026 10:00:00 +0000",
            **({"In-Reply-To": answers} if answers else {}),
        }
        raw = written(named, body)
        self.mails.setdefault(userid, []).append(raw)
        self.take(self.world.send_raw(address_of(userid), raw, to or house))

    def take(self, letters: Sequence[Posted]) -> None:
        """Put letters into the mailboxes of their readers."""
        for letter in letters:
            userid = letter.recipient.partition("@")[0]
            self.mails.setdefault(userid, []).append(letter.raw)
            self.letters.setdefault(userid, []).append(letter)

    def reply(self, userid: str, body: str) -> None:
        """Answer a player's newest letter about the board."""
        letter = next(
            received for received in reversed(self.letters[userid]) if received.seat is not None
        )
        self.send(
            userid,
            f"Re: {letter.subject}",
            body,
            letter.reply_to,
            str(letter.message["Message-ID"]),
        )

    def board(self, number: int = 1) -> BoardRow:
        board = self.world.server.read(boards.load, number)
        assert board is not None
        return board

    def position(self) -> Position:
        board = self.board()
        return self.world.server.read(self.world.server.positions.newest, board)

    def play(self, first: Sequence[str] = (), more: int = FEW) -> None:
        """Reply with these moves, then with what a bot would play, then resign.

        Args:
            first: the first moves.
            more: the number of moves of a bot; `MOST` for a whole game.
        """
        waiting = list(first)
        for number in range(MOST):
            position = self.position()
            if position.outcome is not None:
                return
            seat = Seat(min(position.game.to_act(position.state)))
            if waiting:
                move = waiting.pop(0)
            elif number < len(first) + more:
                move = bot_move(position, seat, "house").text
            else:
                move = "resign"
            before = position.number
            self.reply(self.names[seat], move)
            assert self.position().number > before, self.letters[self.names[seat]][-1].text
        raise AssertionError("the game does not end")


@contextmanager
def begin_game(folder: Path, challenge: str, *names: str, **settings: str) -> Iterator[Played]:
    """Begin a game with a command by the first player; the others accept it."""
    with indoors(folder, **settings) as world:
        world.sign_up(*names)
        game = Played(world, names)
        game.send(names[0], challenge.replace("solo anna", f"solo anna {PASSWORD}"))
        if game.letters[names[0]][-1].kind == "begin-asked":
            letter = game.letters[names[0]][-1]
            game.send(names[0], "Re: begin", "yes", letter.reply_to)
        for name in names[1:]:
            game.reply(name, "accept")
        yield game


def as_mbox(mails: Sequence[bytes]) -> bytes:
    """Return an mbox file, with LF line ends and escaped lines."""
    texts = []
    for mail in mails:
        lines = mail.replace(b"\r\n", b"\n").split(b"\n")
        escaped = [b">" + line if line.startswith(b"From ") else line for line in lines]
        texts.append(b"From x Thu Mar  5 10:00:00 2026\n" + b"\n".join(escaped) + b"\n\n")
    return b"".join(texts)


def verdict_of(*mailboxes: Sequence[bytes]) -> Verdict:
    """Return the verdict on the only board in these mailboxes."""
    mailbox = Mailbox()
    for mails in mailboxes:
        mailbox.add_all(mails)
    (verdict,) = verdicts(mailbox, Registry.installed())
    return verdict


def sentences(verdict: Verdict) -> list[str]:
    return [finding.sentence for finding in verdict.findings]
