"""Digests: one letter a day with all waiting boards, and the replies to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from html import escape
from types import MappingProxyType
from typing import Any

from pbmserv.commands.grammar.examples import Sender
from pbmserv.commands.grammar.line import not_a_command, words_of
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.reading.mail import read_reply
from pbmserv.commands.reading.replies import may_act
from pbmserv.commands.table import model
from pbmserv.commands.table.looking import Follow, ShowAs
from pbmserv.commands.table.playing import (
    Chat,
    MakeMove,
)
from pbmserv.commands.table.starting import Accept
from pbmserv.engine.clocks import next_daytime, zone
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import MoveError, PlayerError, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards import moves
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery.waiting_boards import (
    MOST_DRAWN,
    Due,
    Remind,
    Waiting,
    entries,
    said_in,
    waiting_for,
)
from pbmserv.service.time.localtime import local_date, next_local
from pbmserv.store import clocks
from pbmserv.store.accounts import leaving, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox, unsent_letters
from pbmserv.store.delivery.old_letters import OldLetter
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus

MOST_LOOKED_UP = 10
"""Most words of a line that are looked up as userids."""

MOST_SAID = 24_000
"""Most octets of players' words in one digest, as HTML. So it is short enough for mail programs
(`ROOM` in `letters`), and has room for the longest words of a letter."""

LATE = timedelta(hours=1)
"""A digest that is later than this, since the server was down, is sent neither at night nor on a
day with a digest of its own."""


# -- made ------------------------------------------------------------------------------------


Tables = Callable[[CommandContext, Player], Sequence[Mapping[str, Any]]]
"""Returns the words of the tables that a player's digest of this day shows."""


def make(
    context: CommandContext, player_id: int, remind: Remind, tables: Tables
) -> Sequence[Notification] | None:
    """Return the due digest of a player; `None` if another process makes it.

    It is empty if there are no news and no board waits for the player; tables alone make none.
    """
    due = clocks.claim_digest(context.connection, player_id, context.now)
    if due is None:
        return None
    player = players.by_id(context.connection, player_id)
    if player is None or player.digest_minute is None or player.state != PlayerState.ACTIVE:
        clocks.set_digest_due(context.connection, player_id, None)
        return []
    local = zone(player.tz)
    following = next_local(context.now, local, player.digest_minute)
    if player.unreachable_since is not None:
        clocks.set_digest_due(context.connection, player_id, following)
        return []  # the news go into the first one that can be sent
    if context.now - due > LATE:
        morning = next_daytime(context.now, local)
        if local_date(following, local) == local_date(morning, local):
            clocks.set_digest_due(context.connection, player_id, following)
            return []  # that day has a digest of its own
        if morning > context.now:
            clocks.set_digest_due(context.connection, player_id, morning)
            return []
    clocks.set_digest_due(context.connection, player_id, following)
    waiting = waiting_for(context, player_id)
    ahead = following - context.now
    reminded = _reminded(waiting, lambda number: remind(context, number, player_id, ahead))
    digests = _made(
        context, player_id, unsent_letters.tray(context.connection, player_id), waiting, reminded
    )
    if digests:
        shown = [
            {"letter": "tray-table", "words": table, **_NO_BOARD}
            for table in tables(context, player)
        ]
        digests[-1]["news"] += shown
    return [Notification(player.address, player_id, Part("tray", words)) for words in digests]


def gathered(context: CommandContext, player_id: int, news: Sequence[QueuedLetter]) -> list[Part]:
    """Return digests in place of letters that waited for another reason: one, if players said
    little."""
    digests = _made(context, player_id, news, waiting_for(context, player_id), {})
    return [Part("tray", {**words, "gathered": True}) for words in digests]


def _reminded(waiting: Sequence[Waiting], remind: Callable[[int], Due | None]) -> dict[int, Due]:
    """Return the boards of which a digest reminds, by number; at most the drawn ones."""
    reminded: dict[int, Due] = {}
    for entry in sorted(waiting, key=lambda entry: entry.since):
        due = remind(entry.board.id) if len(reminded) < MOST_DRAWN else None
        if due is not None:
            reminded[entry.board.id] = due
    return reminded


def _made(
    context: CommandContext,
    player_id: int,
    news: Sequence[QueuedLetter],
    waiting: Sequence[Waiting],
    due: Mapping[int, Due],
) -> list[dict[str, Any]]:
    """Return the words of a digest, or of several if one has no room for all that players said."""
    if news:
        unsent_letters.mark_folded(context.connection, [letter.id for letter in news])
    elif all(entry.board.terms.alone for entry in waiting):
        return []
    batches = _batches(news)
    digests = [_words(context, player_id, batches[0], waiting, due)]
    digests += [_words(context, player_id, batch, waiting, only_news=True) for batch in batches[1:]]
    return [words for words in digests if any(words.values())]


def _batches(news: Sequence[QueuedLetter]) -> list[list[QueuedLetter]]:
    """Split letters into parts of at most `MOST_SAID`, without cutting words."""
    batches: list[list[QueuedLetter]] = [[]]
    room = MOST_SAID
    for letter in news:
        needed = len(escape(str(letter.words.get("said", ""))).encode())
        if needed > room and batches[-1]:
            batches.append([])
            room = MOST_SAID
        batches[-1].append(letter)
        room -= needed
    return batches


def _words(
    context: CommandContext,
    player_id: int,
    news: Sequence[QueuedLetter],
    waits: Sequence[Waiting],
    due: Mapping[int, Due] = MappingProxyType({}),
    *,
    only_news: bool = False,
) -> dict[str, Any]:
    by_board: dict[int, list[QueuedLetter]] = {}
    for letter in news:
        if letter.board_id is not None:
            by_board.setdefault(letter.board_id, []).append(letter)
    waiting = [
        waiting_board
        for waiting_board in waits
        if not only_news or waiting_board.board.id in by_board
    ]
    # Boards that are nearly due, then those with the newest news, then the others, newest first.
    waiting.sort(
        key=lambda waiting_board: (
            waiting_board.board.id in due,
            max(_ids(by_board, waiting_board.board.id)),
            waiting_board.since,
        ),
        reverse=True,
    )
    shown = {entry.board.id for entry in waiting}
    drawn, more = entries(
        context, waiting, lambda waiting_board: by_board.get(waiting_board.board.id, ()), due
    )
    others = list(_others(context, player_id, by_board, shown))
    others += [
        (letter.id, {"letter": "tray-message", "words": dict(letter.words), **_NO_BOARD})
        for letter in news
        if letter.letter == "message"
    ]
    others.sort(key=lambda dated: dated[0], reverse=True)
    return {
        "waiting": drawn,
        "more": more,
        "news": [entry for _, entry in others],
    }


SEVERAL = frozenset({"tray", "reminders", "event-begins", "event-ends"})
"""Letters about several boards, which are named in their words."""


def answerable(letter: OldLetter) -> dict[str, Any]:
    """Return the words of an old letter that replies need: the boards of a digest, and the turn for
    which each waited."""
    words = letter.words
    if letter.letter not in SEVERAL or not words:
        return {}
    kept = {
        "waiting": [{"board": entry["board"], "turn": entry["turn"]} for entry in words["waiting"]],
        "more": words["more"],
        "news": [
            {"board": news["board"], "seat": news["seat"]}
            for news in words["news"]
            if news["seat"] is not None
        ],
    }
    return kept | {key: words[key] for key in ("gathered",) if key in words}


_NO_BOARD: Mapping[str, Any] = {"board": None, "ply": None, "seat": None}


def _others(
    context: CommandContext,
    player_id: int,
    by_board: Mapping[int, Sequence[QueuedLetter]],
    shown: set[int],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield news of boards that do not wait for the reader."""
    for number, letters in by_board.items():
        board = boards.load(context.connection, number) if number not in shown else None
        if board is None:
            continue
        newest = letters[-1]
        if newest.seat is not None and board.sitters[newest.seat].player_id != player_id:
            continue  # another player has the seat now
        says = said_in(letters)
        if board.status == BoardStatus.DECLINED or newest.letter == "followed":
            entry = {"letter": newest.letter, "words": dict(newest.words), "ply": newest.ply}
        elif board.status == BoardStatus.FINISHED and not says:
            continue  # its result was mailed at once
        else:
            words = {
                "event": "news",
                "undecided": list(board.undecided),
                "asked_by": [],
                "says": says,
                "due": None,
            }
            entry = {"letter": "tray-board", "words": words, "ply": board.plies}
        yield newest.id, {**entry, "board": number, "seat": newest.seat}


def _ids(by_board: Mapping[int, Sequence[QueuedLetter]], number: int) -> list[int]:
    return [letter.id for letter in by_board.get(number, ())] or [0]


_OF_A_BOARD = model.AboutBoard | Follow
"""Commands that name no board in a reply to a board's letter."""


# -- answered --------------------------------------------------------------------------------


def unfold(context: CommandContext, reply: model.TrayReply) -> model.Command:
    """Return the command of a line such as ``412: 5``, as in a reply to that board's own letter.

    Raises:
        Refused: the answered letter is not about this board.
        PlayerError: the line cannot be read.
    """
    mailed = _mailed(context)
    if reply.board not in mailed:
        numbers = sorted(mailed)
        raise Refused(
            "tray-board",
            part=str(reply.board),
            boards=", ".join(map(str, numbers)),
            example=f"{numbers[0]}: show" if numbers else "games",
        )
    games = tuple(game.info.key for game in context.services.registry)
    reading = read_reply(reply.text, games, plainly=True)
    command = reading.lines[0].meaning
    if isinstance(command, PlayerError):
        raise command
    context.current.line_words = reading.words if isinstance(command, Chat) else ""
    if isinstance(command, model.ReplyMove):
        turn = mailed[reply.board]
        return MakeMove(None, reply.board, None, command.lines[0], turn)
    if isinstance(command, model.Yes):
        return Accept(None, reply.board, None)
    if isinstance(command, ShowAs) and command.who is None and not command.boards:
        return replace(command, boards=(model.BoardRef(reply.board),))
    if isinstance(command, _OF_A_BOARD) and command.board is None:
        return replace(command, board=reply.board)
    return command


def names_no_board(command: object) -> bool:
    """Whether a line of a reply needs a board's number and has none."""
    if isinstance(command, model.ReplyMove):
        return True
    if not isinstance(command, _OF_A_BOARD) or command.board is not None:
        return False
    return getattr(command, "who", None) is None


def only_board(context: CommandContext, line: Line) -> model.Command:
    """Return the command of a line without a board's number, for the only waiting board.

    Raises:
        Refused: several boards wait.
    """
    mailed = _mailed(context)
    waiting = [number for number, turn in mailed.items() if turn is not None]
    text = line.meaning.lines[0] if isinstance(line.meaning, model.ReplyMove) else line.echo
    named = _NUMBER_ALONE.fullmatch(text)
    if named:
        board = int(named[1]) if int(named[1]) in mailed else first_board(context)
        raise Refused("tray-nothing", part=text, example=f"{board}: show")
    if len(waiting) != 1:
        first = first_board(context)
        example = f"{first}: {text}" if _is_move(context, first, text) else f"{first}: show"
        raise Refused("tray-which", part=text, example=example)
    return unfold(context, model.TrayReply(waiting[0], text))


def without_number(context: CommandContext, command: model.ReplyMove) -> model.Command:
    """Return the command of a possible move in answer to a letter that is about no single board: a
    move on the only board that the writer plays.

    Raises:
        PlayerError: it is not a move, or several boards could be meant.
    """
    text = command.lines[0]
    running = sorted(_mailed(context))
    if not running or not (may_act(text) or _is_newest_move(context, running[-1], command)):
        raise _no_command(context, text)
    if len(running) == 1:
        board = boards.load(context.connection, running[0])
        if board is not None and board.status == BoardStatus.ACTIVE:
            return MakeMove(None, running[0], None, text, None)
    raise Refused("tray-which", part=text, example=f"{running[-1]}: {text}")


def _no_command(context: CommandContext, text: str) -> PlayerError:
    """Return the refusal of a line that is no command, with the command that it may mean ("play
    bob")."""
    games = sorted(game.info.key for game in context.services.registry)
    speaker = context.speaker(None)

    def is_player(word: str) -> bool:
        return word in BOT_USERIDS or players.by_userid(context.connection, word) is not None

    line = not_a_command(words_of(text)[:MOST_LOOKED_UP], games)
    assert line.for_sender is not None
    reread = line.for_sender(Sender(speaker.userid, 0, is_player)).meaning
    assert isinstance(reread, PlayerError)
    refusal = reread.refusal
    return Refused(refusal.code, part=text, example=refusal.example, **refusal.values)


_NUMBER_ALONE = re.compile(r"#?(\d{1,9})\s*[:.)]?", re.ASCII)


def first_board(context: CommandContext) -> int:
    """Return a board of the answered letter, for examples; a waiting one if possible.

    Raises:
        Refused: see `_mailed`.
    """
    mailed = _mailed(context)
    waiting = [number for number, turn in mailed.items() if turn is not None]
    return next(iter((*waiting, *sorted(mailed))), 0)


def _is_move(context: CommandContext, number: int, text: str) -> bool:
    """Whether a text is a move on a board of the speaker."""
    board, sitter = context.seat_at(number, None, None)
    position = context.position(board)
    try:
        position.game.parse(position.game.view(position.state, sitter.seat), text)
    except MoveError:
        return False
    return True


def _is_newest_move(context: CommandContext, number: int, command: model.ReplyMove) -> bool:
    """Whether a line is a move on a board that it does not name, so that the focus must not show
    it."""
    focus = context.current.focus
    try:
        return moves.holds_move(context, command, number)
    except Refused:
        return False
    finally:
        context.current.focus = focus


def _mailed(context: CommandContext) -> dict[int, int | None]:
    """Return the boards of the answered letter, each with the turn for which it waited."""
    reply_address = context.reply_address
    if reply_address is not None and reply_address.purpose is Purpose.BOARD:
        return {reply_address.about: reply_address.number}  # a letter about one board
    if reply_address is not None and reply_address.purpose is Purpose.PLAYER:
        # An answer about several boards, to which a reply names the board.
        return dict.fromkeys(leaving.running(context.connection, reply_address.player))
    letter = None
    if reply_address is not None and reply_address.purpose is Purpose.TRAY:
        letter = outbox.letter(context.connection, reply_address.about)
    if letter is None or reply_address is None or letter.player_id != reply_address.player:
        raise Refused("tray-only", example="help replies")
    turns: dict[int, int | None] = dict.fromkeys(letter.words["more"])
    turns |= {news["board"]: None for news in letter.words["news"] if news["seat"] is not None}
    return turns | {entry["board"]: entry["turn"] for entry in letter.words["waiting"]}
