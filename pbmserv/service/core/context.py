"""What one mail is carried out with: who speaks, of which board, on what connection."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.commands.table.model import VOUCHED, Credentials, Line
from pbmserv.engine.position import Position
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress, speaker_of
from pbmserv.service.auth import lockout
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.core.budget import Budget
from pbmserv.service.core.lookup import (
    not_seated,
    one_of,
    signed_off,
    suspended,
    too_many_passwords,
    unknown_speaker,
    wrong_game,
)
from pbmserv.service.core.results import Tally
from pbmserv.service.core.words_for_others import UNSAID, Letters, Passed, Said, pass_on
from pbmserv.service.delivery.incoming import IncomingMail
from pbmserv.service.limits.rates import Traffic
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery import inbox
from pbmserv.store.tables.accounts import PlayerState

WAITING_SIGNUPS = 3
"""Unconfirmed signups of a userid whose passwords are looked at, the newest ones."""


@dataclass(frozen=True, slots=True)
class Services:
    """What all mails are carried out with.

    Attributes:
        memo: what was found out about passwords; nothing here can run argon2.
        operators: userids of the people who run this server.
        signup: ``confirm``, ``open`` or ``closed``.
        web_url: base of links in letters, "" when there are no pages.
        away_days: days of a calendar year that a player can be away.
        invitations: how many mail addresses a player can invite in a day.
        letters: makes letters once more, to tell what of a mail quotes them.
        secrets: secrets that no key of reply addresses has signed and nobody's words may hold.
    """

    mail_domain: MailDomain
    registry: Registry
    positions: Positions
    memo: Memo
    traffic: Traffic
    operators: frozenset[str]
    signup: str
    web_url: str
    away_days: int
    invitations: int
    letters: Letters
    secrets: Callable[[], Sequence[str]] = tuple


@dataclass(slots=True)
class Focus:
    """The board a command is about, for the refusal letter that may have to show it."""

    board: BoardRow
    seat: Seat


@dataclass(slots=True)
class CommandContext:
    """What one mail is carried out with. Lives as long as its transaction.

    Attributes:
        mail_id: row of the mail in the inbox.
        played: newest positions it made or looked at, to be remembered after the commit.
        moved: boards on which the present command has made a move, so that queued moves follow, and
            what plans wait there.
        player, focus: who speaks, and of which board, once a handler has found out.
        bound_turn: the turn of that board that the letter which is answered was written for.
        echo_hidden: the present command must not be quoted (it may be a password).
        led_on: some command has moved a game on, or told somebody else something.
        talks: some command only carries words to somebody.
        proven: players who have proved to speak (by password, reply address or sender), in their
            order, each with the moment since when letters to them come back.
        carried_out: something proven was done.
        unproven: the answer goes to a player who may not have written the mail at all.
        counted: players whose mail this was counted as.
        right_passwords: userids whose passwords the mail had right.
        reported: boards of which the coach has still to report.
        bot_turns: boards where it became a bot's turn, each with whether the answer waits for it.
        line_words: the present command's own words; ``None`` = the mail's.
        left_out: what of the words for others was not passed on by the present command.
        passed: what became of words that were looked at, by their writer and what was written.
        reread: texts of letters that the mail may quote, by their numbers.
        tally, budget: what this mail has led to, for the log, and what it has spent.
        replayed: positions as the record had them when they were asked for.
        attached: texts of files that came with the mail, by what marks them.
    """

    services: Services
    connection: Connection
    incoming: IncomingMail
    mail_id: int | None
    now: datetime
    played: dict[int, Position] = field(default_factory=dict)
    moved: dict[int, dict[Seat, str]] = field(default_factory=dict)
    player: Player | None = None
    sitter: Sitter | None = None
    focus: Focus | None = None
    bound_turn: int | None = None
    echo_hidden: bool = False
    led_on: bool = False
    talks: bool = False
    proven: dict[int, datetime | None] = field(default_factory=dict)
    carried_out: bool = False
    unproven: bool = False
    counted: set[int] = field(default_factory=set)
    right_passwords: set[str] = field(default_factory=set)
    reported: set[int] = field(default_factory=set)
    bot_turns: list[tuple[int, bool]] = field(default_factory=list)
    line_words: str | None = None
    left_out: dict[Line, None] = field(default_factory=dict)
    passed: dict[tuple[int, str], Passed] = field(default_factory=dict)
    reread: dict[int, tuple[str, ...]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    budget: Budget = field(default_factory=lambda: Budget(math.inf))
    replayed: dict[int, Position] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)

    @property
    def reply_address(self) -> ReplyAddress | None:
        """What the reply address says that the mail came to."""
        return self.incoming.reply_address

    @property
    def words(self) -> Said:
        """What others may read of the words in the mail; by then who speaks must be known."""
        written = self.incoming.reading.words if self.line_words is None else self.line_words
        return pass_on(self, written) if written else UNSAID

    def next_command(self) -> None:
        """Forget what belonged to the command before."""
        self.moved.clear()
        self.player = None
        self.sitter = None
        self.focus = None
        self.echo_hidden = False
        self.line_words = None
        self.left_out = {}

    # -- who speaks ---------------------------------------------------------------------

    def authenticate(self, who: Credentials) -> Player:
        """The active player whose userid and password these are.

        Raises:
            Refused: they are not; an unknown userid and a wrong password look the same.
        """
        player = self.identify(who)
        if not player.active:
            raise signed_off(player)
        self.player = player
        return player

    def identify(self, who: Credentials) -> Player:
        """The player whose password this is, also one who has signed off.

        After too many wrong ones none is looked at for a while, and the answer stays the same.

        Raises:
            Refused: as `authenticate` does.
        """
        if who.password == VOUCHED:
            return self._by_sender(who.userid)
        if who not in self.incoming.checked:
            self.echo_hidden = True
            raise too_many_passwords()
        player = players.of_name(self.connection, who.userid)
        source = self.incoming.source
        is_open = lockout.may_try(self.connection, who.userid, source, self.now)
        if is_open or self.verified_as(who.userid):
            right = self._is_right(who, player)
            if right and player is None:
                raise Refused("not-confirmed", part=who.userid)
            if right and player is not None:
                self.right_passwords.add(who.userid)
                self._has_spoken(player)
                return player
        # Nothing of the line is repeated: words may have slipped, and any of them may be
        # a password that stands in another's place.
        self.echo_hidden = True
        raise Refused("bad-credentials", example="forgot USERID")

    def _is_right(self, who: Credentials, player: Player | None) -> bool:
        """Whether a password is a player's, or that of a signup that nobody has confirmed yet,
        which tells only somebody who knows it."""
        if player is not None:
            known: list[str | None] = [player.password_hash]
        else:
            waiting = players.pending(self.connection, who.userid)[:WAITING_SIGNUPS]
            known = [request.password_hash for request in waiting] or [None]
        return any(self.services.memo.right(who.userid, one, who.password.text) for one in known)

    def verified_as(self, userid: str) -> Player | None:
        """The player of that name, if it is proven that the mail comes from one of their
        confirmed addresses; also one who has signed off."""
        if not self.incoming.verdict.passed:
            return None
        player = players.of_name(self.connection, userid)
        if player is None:
            return None
        confirmed = players.addresses_of(self.connection, player.id)
        return player if self.incoming.mail.sender.lower() in confirmed else None

    def _by_sender(self, userid: str) -> Player:
        """The player whom the mail's proven sender is.

        Raises:
            Refused: nothing is proven, or not that; whoever has that userid makes no difference.
        """
        player = self.verified_as(userid)
        if player is None:
            verdict = self.incoming.verdict
            why = "address" if verdict.passed else verdict.result
            sender = self.incoming.mail.sender
            raise Refused("not-vouched", part=userid, why=why, sender=sender)
        self._has_spoken(player)
        return player

    def _has_spoken(self, player: Player) -> None:
        """Note whose mail it was."""
        self._count(player)
        if self.incoming.mail.sender.lower() == player.address:
            self.services.traffic.proves(player.address, self.incoming.source)
        self.proven.setdefault(player.id, player.unreachable_since)
        if self.mail_id is not None and self.incoming.envelope.sender.lower() != player.address:
            inbox.set_player(self.connection, self.mail_id, player.id)

    def _count(self, player: Player) -> None:
        """One mail is one mail of a player, however many commands are in it."""
        if player.id != speaker_of(self.reply_address) and player.id not in self.counted:
            self.counted.add(player.id)
            self.services.traffic.spoke(player.id)

    def known(self) -> list[Player]:
        """The active players whom the mail itself shows to write: by the reply address it came to,
        else all with its proven sender's address.
        """
        reply_address = self.reply_address
        if reply_address is not None and reply_address.player:
            player = players.by_id(self.connection, reply_address.player)
            if player is None or not player.active or player.reply_epoch != reply_address.epoch:
                return []
            return [player]
        if not self.incoming.verdict.passed:
            return []
        return players.by_address(self.connection, self.incoming.mail.sender.lower())

    def shown(self, who: Credentials | None) -> list[Player]:
        """Return the player whose password was given, else the players of `known`."""
        return self.known() if who is None else [self.authenticate(who)]

    def _by_address(self) -> Player:
        """The one player whose address the mail's proven sender is.

        Raises:
            Refused: nothing is proven, or it is the address of several.
        """
        here = self.known()
        if len(here) != 1:
            raise one_of(here) if here else unknown_speaker()
        self._has_spoken(here[0])
        return here[0]

    def speaker(self, who: Credentials | None) -> Player:
        """The player who speaks: by password if one was given, else by the reply address, else by
        the proven sender."""
        if who is not None:
            return self.authenticate(who)
        reply_address = self.reply_address
        if reply_address is None or not reply_address.player:
            self.player = self._by_address()
            return self.player
        player = players.by_id(self.connection, reply_address.player)
        if player is None or player.reply_epoch != reply_address.epoch:
            if player is not None and player.state in {PlayerState.LEFT, PlayerState.BARRED}:
                raise signed_off(player)
            raise Refused("revoked-address", example=f"forgot {player.userid if player else ''}")
        if not player.active:
            raise signed_off(player)
        self.proven.setdefault(player.id, player.unreachable_since)
        self.player = player
        return player

    def seat_at(
        self, board_id: int | None, game: str | None, who: Credentials | None
    ) -> tuple[BoardRow, Sitter]:
        """The board (locked for this transaction) and the speaker's seat at it.

        Without *board_id* it is the board that the reply address is bound to.

        Raises:
            Refused: not authenticated, no such board, another game's, or not seated there.
        """
        player_id, epoch = 0, None
        reply_address = self.reply_address
        if who is not None:
            player_id = self.authenticate(who).id
        elif reply_address is not None and reply_address.player:
            player_id, epoch = reply_address.player, reply_address.epoch
            if board_id is None and reply_address.purpose is Purpose.BOARD:
                board_id = reply_address.about
        elif not self.known():
            raise unknown_speaker()
        if board_id is None:
            raise Refused("which-board", example="games")
        board = boards.lock(self.connection, board_id)
        if board is None:
            raise Refused("no-such-board", part=str(board_id), example="games USERID")
        sitter = board.sitter_of(player_id or self._seated_here(board).id)
        if sitter is None:
            raise not_seated(board)
        if epoch is not None and epoch != sitter.reply_epoch:
            raise _revoked(board, sitter)
        self.proven.setdefault(sitter.player_id, sitter.unreachable_since)
        self.sitter = sitter
        self.focus = Focus(board, sitter.seat)
        self.bound_turn = (
            reply_address.number
            if reply_address is not None
            and reply_address.purpose is Purpose.BOARD
            and reply_address.about == board_id
            else None
        )
        if game is not None and game != board.game:
            raise wrong_game(board, game)
        return board, sitter

    def _seated_here(self, board: BoardRow) -> Player:
        """Which of the players with the mail's proven sender sits at a board; else any.

        Raises:
            Refused: several do.
        """
        here = self.known()
        seated = [player for player in here if board.sitter_of(player.id) is not None]
        if len(seated) > 1:
            raise one_of(seated)
        self.player = (seated or here)[0]
        self._has_spoken(self.player)
        return self.player

    # -- where the answer goes ----------------------------------------------------------

    def reader(self) -> tuple[str, int | None]:
        """Address and player id for the answer: an authenticated player's own address.

        Whom the mail shows to write gets it as a player, also where nobody had to ask who that is,
        so that a reply to it says so again.
        """
        if self.sitter is not None:
            return self.sitter.address, self.sitter.player_id
        if self.player is not None:
            return self.player.address, self.player.id
        sender, here = self.incoming.mail.sender, self.known()
        if len(here) != 1:
            return sender, None
        by_reply = self.reply_address is not None and self.reply_address.player
        return (here[0].address if by_reply else sender), here[0].id

    # -- boards -------------------------------------------------------------------------

    def position(self, board: BoardRow) -> Position:
        """The newest position of a board.

        Raises:
            TooMuch: the mail has spent what it may.
        """
        position = self.played.get(board.id)
        if position is None or position.number != board.plies:
            self.budget.check()  # before the record is read
            positions = self.services.positions
            position = positions.newest(self.connection, board, self.budget.replay)
            self.played[board.id] = self.replayed[board.id] = position
        return position

    def take_back(self, before: Mapping[int, Position]) -> None:
        """Forget positions that a refused command made; *before* it these were known."""
        self.played = self.replayed | dict(before)


def _revoked(board: BoardRow, sitter: Sitter) -> Refused:
    """Why a reply address that was revoked does nothing."""
    if sitter.state == PlayerState.BARRED:
        return suspended(sitter.userid)
    return Refused("revoked-address", example=f"{board.game} showas {sitter.userid} PASSWORD")
