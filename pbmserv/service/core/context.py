"""The context of commands: who gives them, and the database, time and state for carrying them out.

Its parts live for different times:

- `services.Services` live as long as the process, and all commands share them.
- The actor, the submission, the time and the connection live as long as one transaction: that of a
  mail, a press, a clock or a page. They never change.
- The `command_state` changes with each command.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.commands.grammar.examples import usual_game
from pbmserv.commands.table.command_types import VOUCHED, AtBoard, Credentials
from pbmserv.engine.position import Position
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.auth import lockout
from pbmserv.service.auth.stored_hashes import stored_hashes
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.budget import Budget
from pbmserv.service.core.command_state import CurrentCommand, Effects, Focus, Proofs
from pbmserv.service.core.refusals import (
    name_yourself,
    not_seated,
    signed_off,
    too_many_passwords,
    unknown_speaker,
    wrong_game,
)
from pbmserv.service.core.said import CheckedWords
from pbmserv.service.core.services import Services
from pbmserv.service.core.submission import NO_COMMANDS, Submission
from pbmserv.store.accounts import players, signups
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import inbox
from pbmserv.store.tables.accounts import PlayerState


@dataclass(slots=True)
class CommandContext:
    """The context of the commands of one mail or press. It lives as long as their transaction.

    Attributes:
        actor: the player or the part of the server that gives the commands.
        now: the time of the transaction.
        submission: the text with the commands.
        mail_id: number of the inbox row; `None` if the actor is a part of the server.
        budget: limits the work; parts of the server have no limit.
        proofs, effects: those of all commands so far.
        loaded: positions as they were loaded from the record, also by refused commands.
        current: the state of the present command.
        checked_words: results of the guard of words for others, so that it reads each text once.
    """

    services: Services
    connection: Connection
    actor: Actor
    now: datetime
    submission: Submission = NO_COMMANDS
    mail_id: int | None = None
    budget: Budget = field(default_factory=lambda: Budget(math.inf))

    proofs: Proofs = field(default_factory=Proofs)
    effects: Effects = field(default_factory=Effects)
    loaded: dict[int, Position] = field(default_factory=dict)
    current: CurrentCommand = field(default_factory=CurrentCommand)
    checked_words: CheckedWords = field(default_factory=CheckedWords)

    @property
    def reply_address(self) -> ReplyAddress | None:
        """The signed address or link with which the actor speaks."""
        return self.actor.reply_address

    def next_command(self) -> None:
        """Begin another command."""
        self.current = CurrentCommand()

    def trial(self, actor: Actor, submission: Submission) -> CommandContext:
        """Return a context for commands that are only tried, and undone by the caller.

        They use the same budget, and count against no player's limits again.
        """
        return CommandContext(
            services=self.services,
            connection=self.connection,
            actor=actor,
            now=self.now,
            submission=submission,
            mail_id=self.mail_id,
            budget=self.budget,
            proofs=Proofs(counted=self.proofs.counted),
            effects=Effects(positions=dict(self.effects.positions)),
        )

    # -- the speaker -------------------------------------------------------------------

    def authenticate(self, credentials: Credentials) -> Player:
        """Return the active player with this userid and password.

        Raises:
            Refused: there is none; an unknown userid and a wrong password look the same.
        """
        player = self.identify(credentials)
        if not player.active:
            raise signed_off(player)
        self.current.speaker = player
        return player

    def identify(self, credentials: Credentials) -> Player:
        """Return the player with this userid and password, who may have signed off.

        After too many wrong passwords none is compared for a while. The refusal is the same then.

        Raises:
            Refused: there is no such player.
        """
        if credentials.password == VOUCHED:
            return self._by_sender(credentials.userid)
        if credentials not in self.actor.passwords:
            self.current.echo_hidden = True
            raise too_many_passwords()
        player = players.account_of(self.connection, credentials.userid)
        source = self.actor.source
        is_open = lockout.may_try(self.connection, credentials.userid, source, self.now)
        if is_open or self.verified_as(credentials.userid):
            right = self._is_right(credentials, player)
            if right and player is None:
                raise Refused("not-confirmed", part=credentials.userid)
            if right and player is not None:
                self.proofs.right_passwords.add(credentials.userid)
                self._note_proof(player)
                return player
        # Words may be in the wrong places, so any of them may be a password: repeat none.
        self.current.echo_hidden = True
        raise Refused("bad-credentials", example="forgot USERID")

    def _is_right(self, credentials: Credentials, player: Player | None) -> bool:
        """Return whether a password is right for a player, or for an unconfirmed signup.

        Only a writer who knows the password of a signup may learn that it waits.
        """
        waiting = signups.of_userid(self.connection, credentials.userid) if player is None else ()
        memo, password = self.services.memo, credentials.password.text
        return any(
            memo.right(credentials.userid, hashed, password)
            for hashed in stored_hashes(player, waiting)
        )

    def verified_as(self, userid: str) -> Player | None:
        """Return the player of that name, who may have signed off, if the mail is proven to come
        from one of the player's confirmed addresses."""
        if not self.actor.is_verified:
            return None
        player = players.account_of(self.connection, userid)
        if player is None:
            return None
        is_own = players.has_address(self.connection, player.id, self.actor.address)
        return player if is_own else None

    def _by_sender(self, userid: str) -> Player:
        """Return the player of that name, who owns the verified From address.

        Raises:
            Refused: the address is not verified, or not the player's. It does not tell whether
                the userid exists.
        """
        player = self.verified_as(userid)
        if player is None:
            why = "address" if self.actor.is_verified else self.actor.verdict.result
            raise Refused("not-vouched", part=userid, why=why, sender=self.actor.address)
        self._note_proof(player)
        return player

    def _note_proof(self, player: Player) -> None:
        """Note that a password or a verified sender proves the mail to be a player's."""
        self._count(player)
        if self.actor.address.lower() == player.address:
            self.services.traffic.note_source(player.address, self.actor.source)
        self.proofs.add(player.id, player.unreachable_since)
        if self.mail_id is not None and self.actor.source.sender != player.address:
            inbox.set_player(self.connection, self.mail_id, player.id)

    def _count(self, player: Player) -> None:
        """Count the mail once for a player, however many commands it has."""
        if player.id != self.actor.speaks_for and player.id not in self.proofs.counted:
            self.proofs.counted.add(player.id)
            self.services.traffic.count("player", str(player.id))

    def known_writers(self) -> list[Player]:
        """Return the active players who may have written the mail: the player of its reply
        address, else all who have its verified From address."""
        reply_address = self.reply_address
        if reply_address is not None and reply_address.player:
            player = players.active_of(self.connection, reply_address)
            return [] if player is None else [player]
        if not self.actor.is_verified:
            return []
        return players.by_address(self.connection, self.actor.address.lower())

    def writers(self, credentials: Credentials | None) -> list[Player]:
        """Return the player with this password, or without one the `known_writers`."""
        return self.known_writers() if credentials is None else [self.authenticate(credentials)]

    def _by_address(self) -> Player:
        """Return the only player who has the verified From address.

        Raises:
            Refused: it is not verified, or several players have it.
        """
        writers = self.known_writers()
        if len(writers) != 1:
            raise name_yourself(writers) if writers else unknown_speaker(self.usual_game)
        self._note_proof(writers[0])
        return writers[0]

    def speaker(self, credentials: Credentials | None) -> Player:
        """Return the player who gives a command: by password if it has one, else by the reply
        address, else by the verified From address.

        Raises:
            Refused: nothing proves who it is, or the player has left.
        """
        if credentials is not None:
            return self.authenticate(credentials)
        reply_address = self.reply_address
        if reply_address is None or not reply_address.player:
            sender = self.current.speaker = self._by_address()
            return sender
        player = players.by_id(self.connection, reply_address.player)
        if player is not None and not player.active:
            raise signed_off(player)
        if player is None or player.reply_epoch != reply_address.epoch:
            raise Refused("revoked-address", example=f"forgot {player.userid if player else ''}")
        self.proofs.add(player.id, player.unreachable_since)
        self.current.speaker = player
        return player

    def seat_of(self, command: AtBoard) -> tuple[BoardRow, Sitter]:
        """Return the board of a command, locked, and the speaker's seat at it; see `seat_at`."""
        return self.seat_at(command.board, command.game, command.credentials)

    def seat_at(
        self,
        board_id: int | None = None,
        game: str | None = None,
        credentials: Credentials | None = None,
    ) -> tuple[BoardRow, Sitter]:
        """Return a board, locked for this transaction, and the speaker's seat at it.

        Args:
            board_id: `None`: the board of the answered letter.
            game: the game that the command names, if any.
            credentials: the userid and password that the command has, if any.

        Raises:
            Refused: nothing proves who speaks, or there is no such board, or the speaker has no
                seat at it, or it is of another game.
        """
        player_id, epoch = 0, None
        reply_address = self.reply_address
        if credentials is not None:
            player_id = self.authenticate(credentials).id
        elif reply_address is not None and reply_address.player:
            player_id, epoch = reply_address.player, reply_address.epoch
            if board_id is None:
                board_id = self.answered_board
        elif not self.known_writers():
            raise unknown_speaker(game or self.usual_game)
        if board_id is None:
            raise Refused("which-board", example="games")
        board = boards.lock(self.connection, board_id)
        if board is None:
            raise Refused("no-such-board", part=str(board_id), example="games USERID")
        sitter = board.sitter_of(player_id or self._seated_writer(board).id)
        if sitter is None:
            raise not_seated(board)
        if epoch is not None and epoch != sitter.reply_epoch:
            raise _revoked(board, sitter)
        self.proofs.add(sitter.player_id, sitter.unreachable_since)
        self.current.speaker = sitter
        self.current.focus = Focus(board, sitter.seat)
        if game is not None and game != board.game:
            raise wrong_game(board, game)
        return board, sitter

    def _seated_writer(self, board: BoardRow) -> Player:
        """Return the known writer who has a seat at a board; if none has, any of them.

        Raises:
            Refused: several have.
        """
        writers = self.known_writers()
        seated = [player for player in writers if board.sitter_of(player.id) is not None]
        if len(seated) > 1:
            raise name_yourself(seated)
        player = self.current.speaker = (seated or writers)[0]
        self._note_proof(player)
        return player

    def is_proven(self, player_id: int, userid: str) -> bool:
        """Return whether the mail is proven to be a player's.

        Its reply address, a password in any of its lines, or a verified From address proves it.
        """
        if player_id == self.actor.speaks_for:
            return True
        if player_id in self.proofs.players or player_id in self.proofs.counted:
            return True
        return self.verified_as(userid) is not None

    def claimed_writer(self) -> Player | None:
        """Return the only player who has the From address. That proves nothing."""
        owners = players.by_address(self.connection, self.actor.address)
        return owners[0] if len(owners) == 1 else None

    # -- boards -------------------------------------------------------------------------

    @property
    def usual_game(self) -> str:
        """The game for examples of commands that name none."""
        return usual_game(self.services.registry.titles)

    def position(self, board: BoardRow) -> Position:
        """Return the newest position of a board.

        Raises:
            TooMuch: the budget is used up.
        """
        position = self.effects.positions.get(board.id)
        if position is None or position.number != board.plies:
            self.budget.check()  # before the record is read
            positions = self.services.positions
            position = positions.newest(self.connection, board, self.budget.replay)
            self.effects.positions[board.id] = self.loaded[board.id] = position
        return position

    @property
    def answered_board(self) -> int | None:
        """The board of the answered letter; `None` if no letter about a single board is
        answered."""
        reply_address = self.reply_address
        if reply_address is None or reply_address.purpose is not Purpose.BOARD:
            return None
        return reply_address.about

    def answered_turn(self, board_id: int) -> int | None:
        """Return the turn for which the answered letter was written; `None` if that letter is not
        about this board alone."""
        reply_address = self.reply_address
        if reply_address is None or self.answered_board != board_id:
            return None
        return reply_address.number

    def take_back(self, before: Effects) -> None:
        """Forget the effects of a refused command. Positions that it loaded stay, since the record
        is as it was.

        Args:
            before: a copy of the effects before the command.
        """
        before.positions = self.loaded | before.positions
        self.effects = before


def _revoked(board: BoardRow, sitter: Sitter) -> Refused:
    """Return the refusal for a reply address that was revoked."""
    if sitter.state != PlayerState.ACTIVE:
        return signed_off(sitter)
    return Refused("revoked-address", example=f"{board.game} showas {sitter.userid} PASSWORD")
