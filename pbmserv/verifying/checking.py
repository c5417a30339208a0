"""Checks boards by the letters in a mailbox: the order of the checks, and those of hashes.

Checks without the rules of the game come first. The first contradiction ends the checks of a board.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pbmserv.engine.chance import search_pledge
from pbmserv.engine.position import Position
from pbmserv.engine.proof import RecordHash, RecordHashes, move_hash, pledge_of
from pbmserv.engine.protocol import races
from pbmserv.engine.record import (
    EARLY_ENDS,
    JOIN,
    GameRecord,
    Ply,
    Scoresheet,
    read_record,
)
from pbmserv.engine.registry import AnyGame, Registry
from pbmserv.engine.types import BOT_USERIDS, Seat
from pbmserv.errors import PlayerError, ServerFault
from pbmserv.mail import reading_time
from pbmserv.verifying.findings import Finding, Verdict, Wrong
from pbmserv.verifying.letters import Hashes, Letter, Mailbox
from pbmserv.verifying.records import check_result, check_sides, mark_of_sides, replay
from pbmserv.verifying.shown_boards import check_shown_board

_MOST_DRAWN = 2_000
"""Letters of a board that are drawn again; a game has a few hundred at most."""

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def verdicts(mailbox: Mailbox, registry: Registry) -> list[Verdict]:
    """Return the verdict on each board in a mailbox, in the order of server and board number."""
    letters: dict[tuple[str, int], list[tuple[Letter, Hashes]]] = {}
    for letter in mailbox.letters:
        for hashes in letter.hashes:
            letters.setdefault((letter.sender, hashes.board), []).append((letter, hashes))
    records: dict[tuple[str, int], list[str]] = {}
    unreadable: list[Finding] = []
    for text, source in mailbox.records:
        reading_time.check()
        try:
            board = read_record(text).board
        except PlayerError as error:
            if error.refusal.code != "record.none":  # else it only quotes a record
                values = {"letter": source, "refusal": error.refusal}
                unreadable.append(Finding("unreadable-record", values=values))
            continue
        records.setdefault(_key(source, board, letters), []).append(text)
    results = [
        _Check(key[1], letters.get(key, []), records.get(key, []), mailbox, registry).verdict()
        for key in sorted({*letters, *records})
    ]
    if unreadable:
        results.append(Verdict(0, "", tuple(unreadable), is_compared=False))
    return results


def _key(letter: Letter | None, board: int, letters: Iterable[tuple[str, int]]) -> tuple[str, int]:
    """Return the server (as the sender of its letters) and the number of a record's board.

    A record in a file, or in a mail of another sender, belongs to the server whose letters are
    about a board with this number.

    Args:
        letter: the letter with the record; `None` for a file.
        letters: servers and boards of all letters.
    """
    senders = [sender for sender, number in letters if number == board]
    own = letter.sender if letter is not None else ""
    return (own if own in senders or not senders else senders[0], board)


class _Check:
    """The checks of one board.

    Args:
        letters: the letters about the board, each with its hashes of it.
        records: the records of the board as text.
    """

    def __init__(
        self,
        board: int,
        letters: Sequence[tuple[Letter, Hashes]],
        records: Sequence[str],
        mailbox: Mailbox,
        registry: Registry,
    ) -> None:
        self._board = board
        self._letters = sorted(letters, key=lambda pair: pair[0].date or _LONG_AGO)
        # Tiny letters have no room for the pledge.
        self._pledges = [pair for pair in self._letters if pair[1].pledge]
        self._records = records
        self._mailbox = mailbox
        self._registry = registry
        # The seats of the players who got the letters.
        self._seats = {hashes.seat for _, hashes in letters if hashes.seat is not None}
        self._title = ""
        self._findings: list[Finding] = []

    def verdict(self) -> Verdict:
        """Run all checks up to the first contradiction."""
        reading_time.check()
        try:
            is_compared = self._run()
        except Wrong as wrong:
            self._findings.append(wrong.finding)
            is_compared = False
        return Verdict(self._board, self._title, tuple(self._findings), is_compared)

    def _note(self, code: str, **values: Any) -> None:
        self._findings.append(Finding(code, values=values))

    def _run(self) -> bool:
        """Run the checks; return whether the record was compared with letters.

        Raises:
            Wrong: a check has failed.
        """
        self._check_pledges_agree()
        if not self._records:
            self._note("no-record", letters=len(self._letters), board=self._board)
            return False
        sheets = [read_record(text) for text in self._records]
        sheet = sheets[0]
        game = self._game_of(sheet)
        self._title = f"{game.info.title if game else sheet.record.game}: {' - '.join(sheet.names)}"
        if any(other.record != sheet.record for other in sheets):
            raise Wrong("two-records")
        self._check_pledge(sheet)
        if check_sides(sheet):
            self._note_sides(sheet)
        self._check_moves(sheet)
        if game is None:
            return False

        positions = replay(game, sheet, self._board)
        check_result(sheet, positions[-1])
        positions_of_letters = self._check_hashes(sheet, positions)
        if not self._letters:
            self._note("no-letters")
            return False
        boards = self._check_boards(sheet, positions_of_letters)

        moves = sum(ply.text != JOIN for ply in sheet.record.plies)
        self._note("fits", letters=len(self._letters), moves=moves)
        if boards:
            self._note("boards", boards=boards)
        self._note_missing_turns()
        self._note_chance(sheet, positions[0])
        self._note_signatures()
        return True

    # -- without the rules ---------------------------------------------------------------------

    def _check_pledges_agree(self) -> None:
        """Compare the pledges of all letters with that of the oldest one."""
        for letter, hashes in self._pledges[1:]:
            first, first_hashes = self._pledges[0]
            if hashes.pledge != first_hashes.pledge:
                raise Wrong("two-pledges", first=first, letter=letter)

    def _game_of(self, sheet: Scoresheet) -> AnyGame | None:
        """Return the rules by which a record was played; note if they are not here."""
        try:
            return self._registry.version(sheet.record.game, sheet.record.rules_version)
        except ServerFault:
            self._note("no-game", key=sheet.record.game, version=sheet.record.rules_version)
            return None

    def _check_pledge(self, sheet: Scoresheet) -> None:
        """Compare the letters' pledge with the record's seed and options."""
        if self._pledges:
            letter, hashes = self._pledges[0]
            if hashes.pledge != pledge_of(sheet.record):
                raise Wrong("wrong-pledge", letter=letter)

    def _note_sides(self, sheet: Scoresheet) -> None:
        """Note how the sides were drawn, and whether a letter had pledged the seed."""
        mark = mark_of_sides(sheet)
        if not mark:
            self._note("sides")
            return
        finder = sheet.record.plies[0].seat
        pledge = search_pledge(sheet.record.seed)
        letters = [letter for letter in self._mailbox.letters if pledge in letter.searches]
        self._note(
            "sides-mixed",
            name=sheet.names[finder],
            letter=letters[0] if letters else None,
            waited=any(seat != finder for seat in self._seats),
        )

    def _check_moves(self, sheet: Scoresheet) -> None:
        """Compare the newest move of each letter with the moves of the record."""
        record = sheet.record
        moves = {move_hash(record.seed, ply) for ply in record.plies}
        in_letters = {hashes.move for _, hashes in self._letters}
        for letter, hashes in self._letters:
            if hashes.move and hashes.move not in moves:
                plies = _of_turn(record.plies, hashes)
                unlike = (ply for ply in plies if move_hash(record.seed, ply) not in in_letters)
                ply = next(unlike, None)
                name = sheet.names[ply.seat] if ply is not None else ""
                raise Wrong("wrong-move", letter=letter, ply=ply, name=name)

    # -- by the rules --------------------------------------------------------------------------

    def _check_hashes(
        self, sheet: Scoresheet, positions: Sequence[Position]
    ) -> list[list[Position]]:
        """Return for each letter the positions that have its hashes.

        Raises:
            Wrong: no position has the hashes of a letter.
        """
        pledge, seed = pledge_of(sheet.record), sheet.record.seed
        by_seat: dict[int | None, dict[RecordHash, list[Position]]] = {}
        for seat in {hashes.seat for _, hashes in self._letters}:
            record_hashes = RecordHashes(pledge, None if seat is None else Seat(seat))
            by_hash = by_seat.setdefault(seat, {})
            for position in positions:
                reading_time.check()
                by_hash.setdefault(record_hashes.at(position), []).append(position)
        positions_of_letters = []
        for letter, hashes in self._letters:
            fitting = _with_hashes(hashes, by_seat[hashes.seat])
            if not fitting:
                plies = (ply for ply in sheet.record.plies if move_hash(seed, ply) == hashes.move)
                raise Wrong("wrong-record", letter=letter, ply=next(plies, None))
            positions_of_letters.append(fitting)
        return positions_of_letters

    def _check_boards(
        self, sheet: Scoresheet, positions_of_letters: Sequence[Sequence[Position]]
    ) -> int:
        """Compare the boards and events in letters with those of the record.

        Returns:
            The number of letters whose board was compared.
        """
        compared = 0
        accepted = sum(ply.text == JOIN for ply in sheet.record.plies)
        drawn = list(zip(self._letters, positions_of_letters, strict=True))[:_MOST_DRAWN]
        for (letter, hashes), fitting in drawn:
            reading_time.check()
            # Nobody sees what the game draws before the last player has accepted.
            positions = [position for position in fitting if position.number >= accepted]
            compared += check_shown_board(letter, sheet, positions, hashes.seat)
        return compared

    # -- the limits of the proof ---------------------------------------------------------------

    def _note_missing_turns(self) -> None:
        """Note the turns before the first letter, which no letter proves."""
        first = min(hashes.turns for _, hashes in self._letters)
        if first > 0:
            self._note("late", turns=first)

    def _note_chance(self, sheet: Scoresheet, start: Position) -> None:
        """Note the mails that were mixed into chance, and those that could have been."""
        is_alone = sheet.record.seats == 1
        has_finder = bool(mark_of_sides(sheet))
        for ply in sheet.record.plies:
            name = sheet.names[ply.seat]
            if not ply.mark:
                if ply.text == JOIN:
                    self._note("not-mixed", name=name)
                continue
            if ply.text != JOIN:
                deed = "moved"
            elif is_alone:
                deed = "began"
            else:
                deed = "found-opponents" if has_finder else "accepted"
            self._note(self._kind_of_mark(ply), name=name, deed=deed, number=ply.number)
        if start.is_duplicate:
            self._note("duplicate")
            return
        self._note_unmixed(sheet)
        if start.draws and not any(ply.text == JOIN and ply.mark for ply in sheet.record.plies):
            self._note("box-alone" if is_alone else "drawn-alone")
        elif _names_box(start.game, sheet.record):
            self._note("box-named")

    def _note_unmixed(self, sheet: Scoresheet) -> None:
        """Note the people whose moves came without a mail that was mixed into chance."""
        if sheet.record.seats == 1:
            return
        plies = sheet.record.plies
        turns = [ply for ply in plies if not ply.free and ply.text not in EARLY_ENDS]
        for seat in sorted({ply.seat for ply in turns} - {ply.seat for ply in plies if ply.mark}):
            if sheet.names[seat] not in BOT_USERIDS:
                self._note("unmixed", name=sheet.names[seat])

    def _kind_of_mark(self, ply: Ply) -> str:
        """Return the finding for the mail of a ply that was mixed into chance."""
        if ply.mark in self._mailbox.marks:
            return "mixed"
        if ply.mark in self._mailbox.answered:
            return "mixed-answered"
        return "mixed-unknown" if ply.seat in self._seats else "mixed-unseen"

    def _note_signatures(self) -> None:
        unsigned = sum(not letter.is_signed for letter, _ in self._letters)
        self._note("signatures", unsigned=unsigned, letters=len(self._letters))


def _names_box(game: AnyGame, record: GameRecord) -> bool:
    """Return whether the options of a record name the box that all its players solve."""
    if not races(game):
        return False
    options = game.options(record.options, record.seats)
    return bool(game.without_box(options) != options)


def _with_hashes(hashes: Hashes, by_hash: dict[RecordHash, list[Position]]) -> list[Position]:
    """Return the positions that have the hashes of a letter; a tiny letter has shorter ones."""
    if hashes.pledge:
        return [*by_hash.get(RecordHash(hashes.record, hashes.move), ())]
    same = (by_hash[each] for each in by_hash if each.record.startswith(hashes.record))
    return [position for positions in same for position in positions]


def _of_turn(plies: Sequence[Ply], hashes: Hashes) -> list[Ply]:
    """Return the plies that may be the newest turn of a letter.

    There are two in a race, where the letter counts the turns of its reader's seat.
    """
    used = [ply for ply in plies if not ply.free]
    own = [ply for ply in used if ply.seat == hashes.seat]
    return [ply for turns in (used, own) for ply in turns[hashes.turns - 1 : hashes.turns]]
