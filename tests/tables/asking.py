"""Asks a running server for things as a mail that has been read would, and plays short games."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial

from running import Correspondence, Letter

from pbmserv.commands.grammar.readings import Line, Reading
from pbmserv.commands.table.command_types import Command
from pbmserv.mail.envelope import Envelope, Mail
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.submission import Request, Submission
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.store.accounts import blocks, players


@dataclass
class Guest:
    """A player of a running server, who is asked for by mail and answered by letters."""

    server: Correspondence
    userid: str
    address: str

    def asks(self, command: Command, words: str = "", *, to: ReplyAddress | None = None) -> None:
        """Send a command; *to* is what the reply address says (default: who speaks, no more)."""
        reply_address = to or self.reply_address(Purpose.PLAYER)
        mail = Mail(self.address, "", "", words, "", False, secrets.token_hex(16))
        reading = Reading((Line(type(command).__name__.lower(), command),), words)
        actor = Actor(address=self.address, reply_address=reply_address)
        incoming = IncomingMail(
            Envelope(self.address, self.server.address, mail.digest.encode()),
            mail,
            Request(actor, Submission(reading, words)),
        )
        server = self.server.server
        stage = server.play_stage
        incoming = incoming.with_passwords(stage.checks.vet(incoming.request).result())
        job = partial(stage.mails.carry_out_mail, incoming, server.clock.now())
        done = stage.writer.submit(job).result()
        server.positions.remember(done.played)
        server.sender.wake()

    def reply_address(self, purpose: Purpose, about: int = 0, number: int = 0) -> ReplyAddress:
        with self.server.server.database.reading.connect() as connection:
            player = players.active_by_userid(connection, self.userid)
        assert player is not None
        return ReplyAddress(purpose, player.id, about, number, player.reply_epoch)

    def replies(self, letter: Letter, command: Command) -> None:
        """Answer a letter with a command."""
        self.asks(command, to=self.server.server.mail_domain.read(letter.reply_to))

    def prefers(self, **values: object) -> None:
        """Set columns of the player's preferences."""
        player = self.reply_address(Purpose.PLAYER).player
        self.server.server.writer.submit(
            lambda connection: players.change(connection, player, values)
        ).result()

    def blocks(self, other: Guest) -> None:
        """Want nothing of *other* any more."""
        ids = [player.reply_address(Purpose.PLAYER).player for player in (self, other)]
        self.server.server.writer.submit(
            lambda connection: blocks.block(connection, *ids, ())
        ).result()

    def letter(self) -> Letter:
        """The one new letter."""
        return self.server.letter(self.address)

    def letters(self) -> list[Letter]:
        """All new letters, oldest first."""
        return self.server.letters(self.address)


def guests(server: Correspondence, *userids: str) -> list[Guest]:
    """New players; nobody has unread letters."""

    def join(connection):
        hashed = server.server.passwords.hash("secret")
        for userid in userids:
            address = f"{userid}@players.example"
            players.create(connection, userid, hashed, address, server.server.clock.now())

    server.server.writer.submit(join).result()
    return [Guest(server, userid, f"{userid}@players.example") for userid in userids]


def lose(server: Correspondence, loser: Guest, winner: Guest) -> tuple[Letter, Letter]:
    """The loser of the newest board gives up; their letters."""
    server.reply(loser.letters()[-1], "resign")
    return loser.letters()[-1], winner.letters()[-1]
