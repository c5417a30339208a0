"""Plays replies as people write them, and tells what a server made of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from indoors import PASSWORD, Indoors, Posted, address_of
from seating import reply_address, seat_pairs
from sqlalchemy import Connection, select

from pbmserv.engine.position import Position
from pbmserv.service.boards import plies
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards import boards
from pbmserv.store.tables.boards import plies as plies_table

FILE = Path(__file__).parent / "people_write.txt"
LINE_END = "⏎"
HIDDEN = ("A2,C4,E6,G1", "B3,D3,A1,F2")
"""Placements of Alice and Bob."""

LETTERS_OF: dict[str, frozenset[str]] = {
    "resign": frozenset({"result"}),
    "undo": frozenset({"refusal", "proposal", "proposed", "undo-asked"}),
    "show": frozenset({"show", "board"}),
    "rematch": frozenset({"challenge", "challenged", "rematch", "begin-asked"}),
    "unsubscribe": frozenset({"unsubscribed", "signoff-asked", "signed-off"}),
}
"""Kinds of letters that say that a command was carried out or is offered."""

OFFERS = {"resign": "Try this: resign", "unsubscribe": "Try this: signoff"}
"""Refusals that offer a command, or a way to end all letters."""


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, the letter that it answers, and the answer of a good host."""

    situation: str
    answer: str
    body: str
    passes_talk: bool

    def __str__(self) -> str:
        return f"{self.situation}: {self.body.replace(chr(10), LINE_END)[:60]}"


def cases(file: Path = FILE) -> Iterator[Case]:
    """Read a file of cases; its head describes the form."""
    for line in file.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        situation, answer, body = (part.strip() for part in line.split("|", 2))
        answer, _, talk = answer.partition(" & ")
        yield Case(situation, answer, body.replace(LINE_END, "\n"), talk == "talk")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effects of a reply.

    Attributes:
        moves: Alice's new moves.
        status: of the board, and whether Alice has accepted it.
        mine, his: the letters to Alice and to Bob that the reply led to.
    """

    moves: tuple[str, ...]
    status: str
    mine: tuple[Posted, ...]
    his: tuple[Posted, ...]

    def __str__(self) -> str:
        kinds = ", ".join(letter.kind for letter in (*self.mine, *self.his))
        return f"moves {self.moves}, {self.status}; letters: {kinds}"


class Stage:
    """Puts Alice and Bob into each situation, with new names and a new board each time."""

    def __init__(self, server: Indoors) -> None:
        self._server = server
        self._number = 0

    def play(self, case: Case) -> Outcome:
        """Let Alice write her reply."""
        if case.situation == "challenge":
            letter = self.letter(case.situation)
            assert letter.board is not None
            alice, board, to = letter.recipient, letter.board, letter.reply_to
        else:
            alice, board, to = self._seated(case.situation)
        before = self._plies(board)
        letters = self._server.send(alice, f"Re: Blackbox {board}", case.body, to)
        row = self._server.server.read(boards.load, board)
        assert row is not None
        return Outcome(
            tuple(text for key, text in self._plies(board).items() if key not in before),
            str(row.status),
            tuple(letter for letter in letters if letter.recipient == alice),
            tuple(letter for letter in letters if letter.recipient != alice),
        )

    def _seated(self, situation: str) -> tuple[str, int, str]:
        """Return Alice's address, a new board, and the address that she replies to there.

        Most of it is written into the database directly, which takes a third of the time.
        """
        self._number += 1
        house = self._server.server
        (table,) = seat_pairs(house, 1, f"t{self._number}")
        first, second = table.players
        alice, bob = (address_of(player.userid) for player in table.players)
        if situation != "hiding":
            self._hide(table.board)
        if situation == "over":
            with house.database.reading.connect() as connection:
                to = reply_address(house, connection, table.board, second)
            self._server.send_unread(bob, "", "resign", to)
        self._server.drop_letters()
        with house.database.reading.connect() as connection:
            return alice, table.board, reply_address(house, connection, table.board, first)

    def _hide(self, board: int) -> None:
        """Hide the atoms of both, without mails and letters."""
        house = self._server.server

        def job(connection: Connection) -> Mapping[int, Position]:
            context = CommandContext(house.services, connection, NOBODY, house.clock.now())
            for seat, cells in enumerate(HIDDEN):
                row = boards.lock(connection, board)
                assert row is not None
                mover = mover_at(context, row, row.sitters[seat])
                move = mover.position.game.parse(mover.view, cells)
                plies.play_move(context, mover, move, "")
            return context.effects.positions

        house.positions.remember(house.writer.submit(job).result())

    def letter(self, situation: str) -> Posted:
        """Return the letter to new players that Alice answers: a challenge, or that of her turn."""
        self._number += 1
        alice, bob = f"alice{self._number}", f"bob{self._number}"
        server = self._server
        server.sign_up(alice, bob)
        server.send_unread(address_of(bob), f"blackbox challenge {bob} {PASSWORD} {alice}")
        letter = self._newest(alice)
        if situation == "challenge":
            return letter
        server.reply_unread(letter, f"accept {HIDDEN[0]}")
        server.drop_letters()
        for move in (HIDDEN[1], "1"):  # the second one if Bob is first
            line = f"blackbox move {letter.board} {bob} {PASSWORD} {move}"
            server.send_unread(address_of(bob), line)
            letter = self._newest(alice)
            if "Your move" in letter.subject:
                break
        return letter

    def _newest(self, userid: str) -> Posted:
        return self._server.letters(address_of(userid))[-1]

    def _plies(self, board: int) -> dict[int, str]:
        with self._server.server.database.reading.connect() as connection:
            rows = connection.execute(
                select(plies_table.c.number, plies_table.c.text).where(
                    plies_table.c.board_id == board
                )
            )
            return {row.number: row.text for row in rows}


def is_right(case: Case, outcome: Outcome) -> bool:
    """Return whether the server answered as a good host does."""
    if case.passes_talk and not _has_talk(case.body, outcome.his):
        return False
    moved = ",".join(outcome.moves).upper().replace(" ", "")
    answer, _, text = case.answer.partition(" ")
    kinds = {letter.kind for letter in outcome.mine}
    is_open = outcome.status != "proposed"
    if answer == "accept":
        placed = not moved if not text else _is_placement(moved, text)
        return is_open and outcome.status != "rejected" and placed
    if answer == "reject":
        return outcome.status == "rejected" or (is_open and not moved)
    if answer == "random":
        return len(moved.split(",")) == 4
    if answer in {"ask", "refuse"}:
        return not moved and bool(outcome.mine) and not outcome.his
    if answer == "words":
        passed_on = bool(outcome.his) and "refusal" not in kinds
        return not moved and (passed_on or "To say it: chat " in _texts(outcome.mine))
    if answer == "help":
        return not moved and text.lower() in _texts(outcome.mine).lower()
    if answer in LETTERS_OF:
        is_offered = answer in OFFERS and OFFERS[answer] in _texts(outcome.mine)
        return not moved and (is_offered or not kinds.isdisjoint(LETTERS_OF[answer]))
    return moved == case.answer.upper().replace(" ", "")


def _is_placement(moved: str, text: str) -> bool:
    return len(moved.split(",")) == 4 if text == "random" else moved == text


def _texts(letters: tuple[Posted, ...]) -> str:
    """Return the texts of letters in one line."""
    return " ".join(letter.one_line for letter in letters)


def _has_talk(body: str, letters: tuple[Posted, ...]) -> bool:
    """Return whether some sentence of a reply is in a letter to Bob."""
    words = _texts(letters)
    sentences = [" ".join(sentence.split()) for sentence in re.split(r"[.!?\n]+", body)]
    return any(len(sentence.split()) >= 2 and sentence in words for sentence in sentences)
