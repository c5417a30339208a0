"""Moves by command and by reply; ``accept`` and ``reject``, which can be moves, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pbmserv.commands.grammar.consent import Consent, consent_in
from pbmserv.commands.grammar.sentences import sentences, talk
from pbmserv.commands.reading.reply_moves import is_greeting, leading_line
from pbmserv.commands.table.command_types import ReplyMove
from pbmserv.commands.table.playing import MakeMove
from pbmserv.commands.table.starting import Accept, Reject
from pbmserv.engine.protocol import only_meaning
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Move
from pbmserv.errors import MoveError, NotUnderstood, PlayerError, Refused
from pbmserv.service.boards import challenges, far_labels
from pbmserv.service.boards.chat import is_heard_praise, say
from pbmserv.service.boards.finished_boards import board_over
from pbmserv.service.boards.first_draws import refuse_before_draw
from pbmserv.service.boards.mover import Mover, mover_at, running_mover
from pbmserv.service.boards.plies import not_your_turn, play_move
from pbmserv.service.boards.resigning import give_up
from pbmserv.service.boards.talked_moves import refuse_retracted_move, talked_move
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.said import Said
from pbmserv.service.core.signed_words import without_goodbye
from pbmserv.service.core.words_for_others import pass_on, words_for_others
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import RUNNING, BoardStatus

_NUMBER = re.compile(r"#\s*(\d{1,6})\s*$")


def make_move(context: CommandContext, command: MakeMove) -> Answer:
    """``game move board userid password move[#n]``, or ``move …`` in a reply."""
    mover = running_mover(context, command)
    refuse_before_draw(mover)
    refuse_late_move(context, mover, command.number, [command.text])
    move = read_move(mover, command.text)
    return _play_or_ask(context, mover, move, words_for_others(context), command.text)


def reply_move(context: CommandContext, command: ReplyMove) -> Answer:
    """Play the first line of a reply that is a move.

    Moves on the lines right below belong to it, because people press Enter between ``+b2`` and
    ``g``. The text below is for the opponent.
    """
    board, sitter = context.seat_at()
    if board.status not in RUNNING:
        return _pass_on_thanks(context, board, sitter, command)
    return _play_reply(context, mover_at(context, board, sitter), command)


def _play_reply(context: CommandContext, mover: Mover, command: ReplyMove) -> Answer:
    sitter = mover.sitter
    lines, number = _without_turn_number(command.lines)
    lines = (_without_game(mover, lines[0]), *lines[1:])
    refuse_late_move(context, mover, number, lines)
    written = without_goodbye("\n".join((lines[0], command.after[0])))
    is_asked = sitter.accepted_at is None
    if is_asked and not context.submission.may_be_answered:  # a machine may have written it
        written = lines[0]
    consent = consent_in(written) if is_asked else None
    if consent is not None and ((consent.leads and not consent.is_yes) or mover.position.draws):
        return _answer_challenge(context, mover, consent)
    refuse_before_draw(mover)
    try:
        first, move = _first_move(mover.position.game, mover.view, lines)
    except NotUnderstood as error:
        return _carry_out_sentences(context, mover, lines, written, consent, error)
    last = _last_line_of_move(mover, command, lines, first)
    text, below = ",".join(lines[first : last + 1]), command.after[last]
    if move is None or last > first:
        move = read_move(mover, text)
    refuse_retracted_move(mover, move, below)
    above = "" if _names_writer(sitter, lines[0]) else talk(sentences("\n".join(lines[:first])))
    words = pass_on(context, "\n".join(filter(None, (above, below))))
    return _play_or_ask(context, mover, move, words, text)


def _last_line_of_move(mover: Mover, command: ReplyMove, lines: tuple[str, ...], first: int) -> int:
    """Return the index of the last line that belongs to the move that begins at a line."""
    last = first
    for place in range(first + 1, len(lines)):
        is_below = place not in command.breaks
        if not (is_below and _is_move(mover.position.game, mover.view, lines[place])):
            break
        last = place
    return last


def _play_or_ask(
    context: CommandContext, mover: Mover, move: Move, words: Said, typed: str
) -> Answer:
    """Play a move, or ask first whether its player means it; see `far_labels`."""
    question = far_labels.ask_about_far_cells(context, mover, move, typed, with_words=bool(words))
    return question or play_move(context, mover, move, words, typed)


def _names_writer(sitter: Sitter, line: str) -> bool:
    """Return whether a line begins with its writer's userid, so that a password may follow."""
    return line.partition(" ")[0].lower() == sitter.userid


def _carry_out_sentences(
    context: CommandContext,
    mover: Mover,
    lines: Sequence[str],
    written: str,
    consent: Consent | None,
    error: NotUnderstood,
) -> Answer:
    """Carry out a reply of which no line is a move: its sentences may say one, or answer the
    challenge. The other sentences go to the opponents.

    Raises:
        PlayerError: they say neither, or more than one.
    """
    sitter = mover.sitter
    has_password = consent is None and _names_writer(
        sitter, leading_line(lines)
    )  # "alice secret g"
    is_read = not has_password and context.submission.may_be_answered  # no machine wrote it
    has_accepted = sitter.accepted_at is not None or (consent is not None and consent.is_yes)
    talked = talked_move(mover, written, has_accepted=has_accepted) if is_read else None
    if talked is not None:
        yes = consent.sentence.written if consent is not None else ""
        words = pass_on(
            context, "\n".join(line for line in talked.words.split("\n") if line != yes)
        )
        return _play_or_ask(context, mover, talked.move, words, talked.typed)
    if consent is not None:
        return _answer_challenge(context, mover, consent)
    if sitter.accepted_at is None:
        raise Refused("accept-how", part=leading_line(lines)) from error
    if has_password:
        context.current.echo_hidden = True
        raise Refused("no-password-needed") from error
    answer = consent_in(written) if is_read else None
    if answer is not None:
        refuse_unclear_answer(mover, answer.sentence.written, is_yes=answer.is_yes)
    if is_read and is_heard_praise(context, written) and not error.refusal.example:
        return say(context, mover.board, sitter, pass_on(context, written))
    raise error


def refuse_unclear_answer(mover: Mover, answer: str, *, is_yes: bool) -> None:
    """Refuse a yes or no if an offer waits for "accept" or "reject".

    It may answer a question in the opponent's words, and a draw cannot be taken back.

    Raises:
        Refused: an offer waits.
    """
    try:
        mover.position.game.parse(mover.view, "accept")
    except MoveError:
        return
    offer = getattr(mover.view, "offer", "")
    example = "accept" if is_yes else "reject"
    raise Refused("offer-how", part=answer, offer=offer, example=example)


def _answer_challenge(context: CommandContext, mover: Mover, consent: Consent) -> Answer:
    """Accept or reject the challenge of the answered letter; other words go to the opponents."""
    context.current.line_words = talk(consent.others)
    answer = challenges.accept if consent.is_yes else give_up
    return answer(context, mover.board, mover.sitter)


def _pass_on_thanks(
    context: CommandContext, board: BoardRow, sitter: Sitter, command: ReplyMove
) -> Answer:
    """Pass on kind words about a board that is over or not played: "Thanks for the game!".

    Raises:
        Refused: the words are not kind, or nobody would read them; the board is over.
    """
    written = "\n".join((command.lines[0], command.after[0]))
    if is_heard_praise(context, written):
        return say(context, board, sitter, pass_on(context, written))
    raise board_over(context, board)


def read_move(mover: Mover, text: str) -> Move:
    """Return a move as the game reads it, else the only one that the text can mean.

    Raises:
        MoveError: the text means no move, or may mean several.
        Refused: another player is to move.
    """
    game, view = mover.position.game, mover.view
    try:
        return game.parse(view, text)
    except MoveError as error:
        move = only_meaning(game, view, text)
        if move is not None:
            return move
        if error.refusal.code.endswith(".not-your-turn"):
            raise not_your_turn(mover, text) from error
        raise


def holds_move(mover: Mover, command: ReplyMove) -> bool:
    """Return whether a line of a reply is meant as a move, legal or not."""
    game, view = mover.position.game, mover.view
    lines = _without_turn_number(command.lines)[0]
    if any(_is_move(game, view, line) for line in lines):
        return True
    written = "\n".join((lines[0], command.after[0]))
    return talked_move(mover, written, has_accepted=True) is not None


def _without_turn_number(lines: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """Return the lines without the ``#n`` of the first one, and n."""
    match = _NUMBER.search(lines[0])
    if match is None:
        return lines, None
    return (lines[0][: match.start()].rstrip(), *lines[1:]), int(match[1])


def _without_game(mover: Mover, line: str) -> str:
    """Return a line without the name of the board's game in front, as in "chess e4"."""
    first, _, rest = line.partition(" ")
    return rest.strip() if rest.strip() and first.lower() == mover.board.game else line


def refuse_late_move(
    context: CommandContext, mover: Mover, number: int | None, lines: Sequence[str]
) -> None:
    """Refuse a move that was meant for another turn; free moves are never late.

    Args:
        number: the turn behind the move (``#7``); `None`: the turn of the answered letter.
        lines: the lines that may be the move.
    """
    turn = mover.turn
    meant = context.answered_turn(mover.board.id) if number is None else number
    if meant is None or meant == turn:
        return
    for line in lines:
        move = None
        try:
            move = read_move(mover, line)
        except NotUnderstood:
            continue
        except PlayerError:
            pass
        if move is not None and move.free:
            return
        example = move.text if move is not None else ""
        part = line if number is None else f"#{number}"
        raise Refused("stale", part=part, meant=meant, turn=turn, example=example)


def _first_move(game: AnyGame, view: Any, lines: tuple[str, ...]) -> tuple[int, Move | None]:
    """Return the index of the first line that is a move, and the move if it is legal."""
    refusals: dict[str, NotUnderstood] = {}
    leads = True
    for index, line in enumerate(lines):
        try:
            return index, game.parse(view, line)
        except NotUnderstood as error:
            refusals.setdefault(line, error)
        except MoveError:
            return index, None
        if leads and not (index and _may_be_initial(line)):
            move = only_meaning(game, view, line)
            if move is not None:
                return index, move
        leads = leads and is_greeting(line)
    raise refusals[leading_line(lines)]


def _may_be_initial(line: str) -> bool:
    """Return whether a line below a greeting is a single letter, like a shortened name."""
    return len(line.strip(".!- ")) < 2


def _is_move(game: AnyGame, view: Any, line: str) -> bool:
    try:
        game.parse(view, line)
    except NotUnderstood:
        return False
    except MoveError:
        return True
    return True


def accept(context: CommandContext, command: Accept) -> Answer:
    """``game accept board userid password``: accept a challenge, or a proposal of the opponent.

    A move below the word accepts a challenge as well.
    """
    mover = running_mover(context, command)
    board, sitter, below = mover.board, mover.sitter, command.below
    if (move := _as_move(mover, "accept")) is not None:
        return play_move(context, mover, move, words_for_others(context))
    if below is None or sitter.accepted_at is not None or not holds_move(mover, below):
        return challenges.accept(context, board, sitter)
    if command.board not in {None, getattr(context.reply_address, "about", None)}:
        raise Refused("first-move", part=str(board.id), example=f"{board.id}: MOVE")
    return _play_reply(context, mover, below)


def reject(context: CommandContext, command: Reject) -> Answer:
    """``game reject board userid password``: reject a challenge, or a proposal of the opponent."""
    mover = running_mover(context, command)
    if (move := _as_move(mover, "reject")) is not None:
        return play_move(context, mover, move, words_for_others(context))
    if mover.board.status != BoardStatus.PROPOSED:
        raise Refused("nothing-to-reject", part=str(mover.board.id))
    return give_up(context, mover.board, mover.sitter)


def _as_move(mover: Mover, word: str) -> Move | None:
    """Return the move that this word is on a board that all have accepted; `None` if it is none."""
    if mover.board.status != BoardStatus.ACTIVE:
        return None
    with suppress(MoveError):
        move: Move = mover.position.game.parse(mover.view, word)
        return move
    return None
