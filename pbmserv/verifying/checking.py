"""Compares the record of a board with the hashes and boards in letters about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from pbmserv.commands.reserved_userids import NEUTRAL
from pbmserv.engine.chance import drawn_sides
from pbmserv.engine.position import Position, opening
from pbmserv.engine.proof import RecordHash, RecordHashes, move_hash, pledge_of
from pbmserv.engine.record import JOIN, NO_SEED, Ply, Scoresheet, read_record, result_of
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.errors import PlayerError, ServerFault
from pbmserv.mail import reading_time
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.verifying.letters import Hashes, Letter, Mailbox
from pbmserv.views.board import BoardScene, scene_of_sheet
from pbmserv.views.environment import template_of
from pbmserv.views.forms import board_text

MOST_WORK = 20_000
"""Work of a record that is replayed (`engine.position.work_of`): far more than a server allows."""

_DRAWN = frozenset({"board", "result", "started"})
"""Kinds of letters that show the board as it is in the record."""

_SAME_BOARD = 0.6
"""Part of a board's lines that a letter must show, if only nearly, to be about that board. Then
each other line is a difference."""

_SAME_LINE = _SAME_EVENT = 0.75
"""Least similarity (`difflib`) of two lines of one board, or of two sentences about one event."""

_MOST_DRAWN = 2_000
"""Letters of a board that are drawn again; a game has a few hundred at most."""

_MOST_LIKE = 50
"""Most positions that are drawn for a letter: those that have its hash differ in private moves."""

_MOST_LINES = 500
"""Lines of a letter that are compared."""

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about a board.

    Attributes:
        code: the block of ``templates/findings.j2`` with the sentence.
        is_wrong: whether it contradicts the record.
        values: values for the sentence.
    """

    code: str
    is_wrong: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The finding in words."""
        template = template_of("findings.j2")
        block = template.blocks[self.code.replace("-", "_")]
        context = template.new_context({"finding": self, **self.values})
        return " ".join("".join(block(context)).split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings about one board.

    Attributes:
        board: the number of the board; 0 for records that cannot be read.
        title: the game and its players; ``""`` without a record.
        findings: in the order in which they were made.
        is_proven: whether a record was compared with at least one letter, and nothing is wrong.
    """

    board: int
    title: str
    findings: tuple[Finding, ...]
    is_proven: bool

    @property
    def is_wrong(self) -> bool:
        return any(finding.is_wrong for finding in self.findings)


class Wrong(Exception):
    """A check has failed, and later checks would only repeat that.

    Attributes:
        finding: says what is wrong.
    """

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.finding = Finding(code, is_wrong=True, values=values)


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
        results.append(Verdict(0, "", tuple(unreadable), is_proven=False))
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
    """The checks of one board."""

    def __init__(
        self,
        board: int,
        letters: list[tuple[Letter, Hashes]],
        records: list[str],
        mailbox: Mailbox,
        registry: Registry,
    ) -> None:
        self._board = board
        self._letters = sorted(letters, key=lambda one: one[0].date or _LONG_AGO)
        self._records = records
        self._mailbox = mailbox
        self._registry = registry
        self._title = ""
        self._at: dict[int | None, dict[RecordHash, list[Position]]] = {}
        self._findings: list[Finding] = []

    def verdict(self) -> Verdict:
        """Run all checks up to the first contradiction."""
        reading_time.check()
        try:
            is_compared = self._check()
        except Wrong as wrong:
            self._findings.append(wrong.finding)
            is_compared = False
        is_wrong = any(finding.is_wrong for finding in self._findings)
        findings = tuple(self._findings)
        return Verdict(self._board, self._title, findings, is_compared and not is_wrong)

    def _note(self, code: str, **values: Any) -> None:
        self._findings.append(Finding(code, values=values))

    def _check(self) -> bool:
        """Run the checks; return whether the record was compared with letters.

        Raises:
            Wrong: a check has failed.
        """
        self._check_pledges_of_letters()
        if not self._records:
            self._note("no-record", letters=len(self._letters), board=self._board)
            return False
        sheets = [read_record(text) for text in self._records]
        sheet = sheets[0]
        game = None
        try:
            game = self._registry.version(sheet.record.game, sheet.record.rules_version)
        except ServerFault:
            self._note("no-game", key=sheet.record.game, version=sheet.record.rules_version)
        self._title = f"{game.info.title if game else sheet.record.game}: {' - '.join(sheet.names)}"
        if any(other.record != sheet.record for other in sheets):
            raise Wrong("two-records")
        if sheet.record.seed == NO_SEED:
            self._note("no-pledge")
            return False
        self._check_pledge(sheet)
        self._check_sides(sheet)
        self._check_moves(sheet)
        if game is None:
            return False
        positions = self._replayed(game, sheet)
        self._check_result(sheet, positions[-1])
        self._check_hashes(sheet, positions)
        if not self._letters:
            self._note("no-letters")
            return False
        boards = self._check_boards(sheet)
        moves = sum(ply.text != JOIN for ply in sheet.record.plies)
        self._note("fits", letters=len(self._letters), moves=moves)
        if boards:
            self._note("boards", boards=boards)
        self._note_limits(sheet, positions[0])
        return True

    @property
    def _whole_letters(self) -> list[tuple[Letter, Hashes]]:
        """The letters that have all hashes, unlike tiny ones."""
        return [(letter, hashes) for letter, hashes in self._letters if hashes.pledge]

    def _positions_of(self, hashes: Hashes) -> list[Position]:
        """Return the positions that have the hashes of a letter."""
        at = self._at[hashes.seat]
        if hashes.pledge:
            return [*at.get(RecordHash(hashes.record, hashes.move), ())]
        same = [at[each] for each in at if each.record.startswith(hashes.record)]
        return [position for positions in same for position in positions]

    def _check_pledges_of_letters(self) -> None:
        whole = self._whole_letters
        if not whole:
            return
        first, hashes = whole[0]
        for letter, other in whole:
            if other.pledge != hashes.pledge:
                raise Wrong("two-pledges", first=first, letter=letter)

    def _check_pledge(self, sheet: Scoresheet) -> None:
        whole = self._whole_letters
        if not whole:
            return
        letter, hashes = whole[0]
        if hashes.pledge != pledge_of(sheet.record):
            raise Wrong("wrong-pledge", letter=letter)

    def _check_sides(self, sheet: Scoresheet) -> None:
        """Draw the seats again, unless a deleted player has a neutral name by now."""
        if not sheet.sides_drawn or any(name.startswith(NEUTRAL) for name in sheet.names):
            return
        drawn = drawn_sides(sheet.record.seed, sheet.names)
        if tuple(drawn) != sheet.names:
            raise Wrong("wrong-sides", drawn=" - ".join(drawn))
        self._note("sides")

    def _check_moves(self, sheet: Scoresheet) -> None:
        """Compare the newest move of each letter with the record, without the rules."""
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

    def _replayed(self, game: Any, sheet: Scoresheet) -> list[Position]:
        """Return all positions of the record, the start first."""
        number, name, text = 0, "", ""
        try:
            position = opening(game, sheet.record)
            positions = [position]
            for ply in sheet.record.plies:
                reading_time.check()
                number, name, text = ply.number, sheet.names[ply.seat], ply.text
                position = position.play(ply)
                positions.append(position)
                if position.weight > MOST_WORK:
                    raise Wrong("too-long", board=self._board)
        except (Wrong, ReadingTooLong):
            raise
        except Exception as error:  # rules of games may raise anything at records of strangers
            raise Wrong("impossible", number=number, name=name, text=text[:60]) from error
        return positions

    def _check_result(self, sheet: Scoresheet, last: Position) -> None:
        outcome = last.outcome
        if outcome is None:
            raise Wrong("unfinished")
        result = result_of(sheet.names, outcome.places, outcome.reason)
        if sheet.result != result:
            raise Wrong("wrong-result", shown=sheet.result, result=result)

    def _check_hashes(self, sheet: Scoresheet, positions: list[Position]) -> None:
        pledge, seed = pledge_of(sheet.record), sheet.record.seed
        for seat in {hashes.seat for _, hashes in self._letters}:
            record_hashes = RecordHashes(pledge, None if seat is None else Seat(seat))
            at = self._at.setdefault(seat, {})
            for position in positions:
                reading_time.check()
                at.setdefault(record_hashes.at(position), []).append(position)
        for letter, hashes in self._letters:
            if not self._positions_of(hashes):
                plies = (ply for ply in sheet.record.plies if move_hash(seed, ply) == hashes.move)
                raise Wrong("wrong-record", letter=letter, ply=next(plies, None))

    def _check_boards(self, sheet: Scoresheet) -> int:
        """Compare the boards and events in letters with those of the record.

        Returns:
            The number of letters whose board was compared.
        """
        compared = 0
        accepted = sum(ply.text == JOIN for ply in sheet.record.plies)
        for letter, hashes in self._letters[:_MOST_DRAWN]:
            reading_time.check()
            # Nobody sees what the game draws before the last player has accepted.
            positions = [one for one in self._positions_of(hashes) if one.number >= accepted]
            if letter.kind not in _DRAWN or len(letter.hashes) > 1 or len(positions) > _MOST_LIKE:
                continue
            seat = None if hashes.seat is None else Seat(hashes.seat)
            if seat is not None and seat >= sheet.record.seats:
                raise Wrong("no-seat", letter=letter)
            positions += [each.shut for each in positions if each.outcome is not None]
            scenes = [scene_of_sheet(sheet, position, seat) for position in positions]
            lines = [line.rstrip() for line in letter.text.splitlines()][:_MOST_LINES]
            others = _names_not_in(letter, sheet.names, seat)
            pairs = [_differences(_board_lines(scene), lines, others) for scene in scenes]
            compared_boards = [differences for differences in pairs if differences is not None]
            if compared_boards and all(compared_boards):  # the letter fits none of them
                ours, theirs = min(compared_boards, key=len)[0]
                raise Wrong("wrong-board", letter=letter, ours=ours, theirs=theirs)
            compared += bool(compared_boards)
            if not others:
                self._check_events(letter, scenes, positions, seat)
        return compared

    def _check_events(
        self,
        letter: Letter,
        scenes: list[BoardScene],
        positions: list[Position],
        seat: Seat | None,
    ) -> None:
        """Compare the events of another player's move with the sentences of a letter about it."""
        text = " ".join(letter.text.split())
        events = [" ".join(event.split()) for event in text.split(" * ")]
        for scene, position in zip(scenes, positions, strict=True):
            if position.ply is None or position.ply.seat == seat:
                return
            missing = [event for event in scene.events if " ".join(event.split()) not in text]
            if not missing:
                return
        for event in missing:
            if theirs := get_close_matches(event, events, 1, _SAME_EVENT):
                raise Wrong("wrong-board", letter=letter, ours=event, theirs=theirs[0])

    def _note_limits(self, sheet: Scoresheet, start: Position) -> None:
        """Note what the letters do not prove."""
        first = min(hashes.turns for _, hashes in self._letters)
        if first > 0:
            self._note("late", turns=first)
        for ply in sheet.record.plies:
            if ply.mark:
                is_in_mailbox = ply.mark in self._mailbox.marks
                is_answered = ply.mark in self._mailbox.answered
                code = (
                    "mixed"
                    if is_in_mailbox
                    else "mixed-answered"
                    if is_answered
                    else "mixed-unseen"
                )
                name = sheet.names[ply.seat]
                is_start = ply.text == JOIN
                how = (
                    f"with which {name} accepted"
                    if is_start
                    else f"of {name} with move {ply.number}"
                )
                chance = (
                    "the first draw and all chance after it"
                    if is_start
                    else "all chance from there on"
                )
                self._note(code, name=name, how=how, chance=chance)
            elif ply.text == JOIN:
                self._note("not-mixed", name=sheet.names[ply.seat])
        if start.draws and not any(ply.text == JOIN and ply.mark for ply in sheet.record.plies):
            self._note("drawn-alone")
        unsigned = sum(not letter.is_signed for letter, _ in self._letters)
        self._note("signatures", unsigned=unsigned, letters=len(self._letters))


def _of_turn(plies: Sequence[Ply], hashes: Hashes) -> list[Ply]:
    """Return the plies that may be the newest turn of a letter.

    There are two in a race, where the letter counts the turns of its reader's seat.
    """
    used = [ply for ply in plies if not ply.free]
    own = [ply for ply in used if ply.seat == hashes.seat]
    return [ply for turns in (used, own) for ply in turns[hashes.turns - 1 : hashes.turns]]


def _board_lines(scene: BoardScene) -> list[str]:
    """Return the lines of the text board of a letter."""
    return [line.rstrip() for line in board_text(scene).splitlines() if line.strip()]


def _names_not_in(letter: Letter, names: Iterable[str], reader: Seat | None) -> list[str]:
    """Return the other players whom a letter does not name; one may have got the seat later."""
    text = f"{letter.subject}\n{letter.text}"
    return [name for seat, name in enumerate(names) if seat != reader and name not in text]


def _differences(
    board: list[str], lines: list[str], others: Collection[str]
) -> list[tuple[str, str]] | None:
    """Return the lines of a board that a letter lacks, each with the letter's line in its place.

    Return `None` if the letter does not show this board: it may have the form for listeners, or the
    name of a former player in place of one of the *others*.
    """
    if any(name in line for name in others for line in board):
        return None
    shown_lines = set(lines)
    missing = [line for line in board if line not in shown_lines]
    pairs = [(line, _nearest(line, lines)) for line in missing]
    shown = len(board) - sum(not theirs for _, theirs in pairs)
    return pairs if shown >= _SAME_BOARD * len(board) else None


def _nearest(line: str, lines: Iterable[str]) -> str:
    """Return the most similar line of a letter, ``""`` if none is similar."""
    return next(iter(get_close_matches(line, [one for one in lines if one], 1, _SAME_LINE)), "")
