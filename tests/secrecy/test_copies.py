"""Copies of a box tell nobody more than the board they come from: whoever makes them, however."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from email import policy
from email.message import EmailMessage
from pathlib import Path
from random import Random

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow

pytestmark = pytest.mark.slow

PLAYERS = ("alice", "bob", "carol")
ALICE, BOB, CAROL = map(address_of, PLAYERS)
STEPS = 120 if DEEP else 24


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    """A server at noon, UTC."""
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up(*PLAYERS)
        yield server


def board_of(house: Indoors, number: int) -> BoardRow | None:
    return house.server.read(boards.load, number)


def id_of(house: Indoors, number: int) -> str:
    board = board_of(house, number)
    assert board is not None
    position = house.server.read(house.server.positions.newest, board)
    return str(position.state.boxes[0].id)


def solution(house: Indoors, number: int) -> str:
    """The move that solves a board's box at once."""
    game = read_id(id_of(house, number))
    cells = geometry(game.width, game.height)
    return ",".join((*("+" + cells.name(cell) for cell in sorted(atoms_of(game))), "?"))


def naming(number: int) -> str:
    """A file as `save` makes it of a running board, or as somebody writes it by hand."""
    return (
        f"pbmserv transcript 1\ngame: blackbox\nbox: board {number}\n"
        "options: -practice -guesses=1 -fair\nseconds: 0\n\nend\n"
    )


def loaded(house: Indoors, who: str, text: str) -> list[Posted]:
    return house.send(address_of(who), f"blackbox load {who} {PASSWORD}", text)


def begin(house: Indoors, who: str, subject: str) -> list[Posted]:
    """A board for which a yes may be asked."""
    letters = house.send(address_of(who), subject)
    if [letter.kind for letter in letters] == ["begin-asked"]:
        return house.reply(letters[0], "yes")
    return letters


def daily_of(house: Indoors, who: str) -> Posted:
    letters = house.send(address_of(who), f"blackbox daily {who} {PASSWORD} 07:30")
    (letter,) = [letter for letter in letters if letter.kind == "daily"]
    assert letter.board is not None
    return letter


def tells(letter: Posted, box: str) -> bool:
    """Return whether a letter shows a box, open or as its ID."""
    return (
        "?@" in letter.text
        or "Nothing is hidden any more" in letter.text
        or box in str(letter.message)
    )


def test_todays_box_is_not_had_by_saving_loading_and_solving(house: Indoors) -> None:
    daily = daily_of(house, "alice")
    assert daily.board is not None
    box = id_of(house, daily.board).partition(":")[2]
    (saved,) = house.reply(daily, "save")
    (attached,) = saved.message.iter_attachments()
    text = attached.get_content().replace("\r\n", "\n")
    assert box not in text
    for letters in (loaded(house, "alice", text), house.reply(daily, f"load\n\n{text}")):
        (refused,) = letters
        assert refused.kind == "refusal"
        assert "is not over yet" in refused.one_line
    # Not by a second account, either, nor by somebody whom the file was handed to.
    for who in ("bob", "carol"):
        (refused,) = loaded(house, who, text)
        assert "not one of your solo boards" in refused.one_line
    # When hers is over, the box is still today's for all others.
    house.reply(daily, solution(house, daily.board))
    (saved,) = house.reply(daily, "save")
    (attached,) = saved.message.iter_attachments()
    assert box not in attached.get_content()
    (refused,) = loaded(house, "alice", text)
    assert "holds today's box" in refused.one_line
    (refused,) = house.reply(daily, "replay")
    assert "holds today's box" in refused.one_line


def test_a_past_day_s_box_is_kept_while_somebody_still_solves_it(house: Indoors) -> None:
    mine, hers = daily_of(house, "alice"), daily_of(house, "bob")
    assert mine.board is not None
    house.reply(mine, solution(house, mine.board))
    house.live(hours=13)
    for line in (f"blackbox record {mine.board}", f"blackbox replay {mine.board} bob"):
        (refused,) = house.send(BOB, line)
        assert "box of a past day that somebody is still solving" in refused.one_line
    (shown,) = house.send(BOB, f"blackbox show {mine.board}")
    assert "?@" not in shown.text
    # Its own player has been told it.
    (record,) = house.reply(mine, "record")
    assert record.kind == "record"
    house.reply(hers, "solve")
    (record,) = house.send(CAROL, f"blackbox record {mine.board}")
    assert record.kind == "record"


def test_a_box_that_somebody_names_is_shown_to_others_from_the_next_day_on(house: Indoors) -> None:
    daily = daily_of(house, "alice")
    assert daily.board is not None
    house.reply(daily, solution(house, daily.board))
    named = id_of(house, daily.board)
    (copy,) = begin(house, "alice", f"blackbox solo alice -id={named}")
    assert copy.board is not None
    house.reply(copy, "solve")
    (again,) = house.reply(copy, "replay")
    house.reply(again, "solve")
    (text,) = house.reply(copy, "save")
    for number in (copy.board, again.board):
        for line in (f"blackbox record {number}", f"blackbox replay {number} bob"):
            (refused,) = house.send(BOB, line)
            assert "Somebody chose the box" in refused.one_line
        (shown,) = house.send(BOB, f"blackbox show {number}")
        assert "?@" not in shown.text
    # Whether it is today's or not makes no difference to what is said.
    (other,) = begin(house, "alice", "blackbox solo alice -id=w3h3m1M1#x")
    house.reply(other, "solve")
    (refused,) = house.send(BOB, f"blackbox record {other.board}")
    assert "Somebody chose the box" in refused.one_line
    assert text.kind == "saved"


def test_a_follower_does_not_see_a_box_that_somebody_named(house: Indoors) -> None:
    (board,) = begin(house, "alice", "blackbox solo alice -id=w3h3m1M1#x")
    house.send(BOB, f"subscribe {board.board} bob {PASSWORD}")
    (news,) = [letter for letter in house.reply(board, "solve") if letter.recipient == BOB]
    assert "From tomorrow (UTC) you can see it" in news.one_line
    assert "The atom was" not in news.text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30) if DEEP else (3,))
def test_no_sequence_of_commands_reveals_a_running_box(tmp_path: Path, seed: int) -> None:
    """Random saves, loads, replays, records, solves and looks; every letter is read."""
    with indoors(tmp_path) as house:
        house.sign_up(*PLAYERS)
        _play_about(house, Random(seed))


class Played:
    """Boards as they come to be, and which board each box was drawn for."""

    def __init__(self, house: Indoors, dice: Random) -> None:
        self.house, self.dice = house, dice
        self.origins: dict[int, int] = {}
        self.days: dict[int, int] = {}

    def note(self, letters: list[Posted], copied: int) -> None:
        """Find new boards in letters; *copied* is the board that was asked for a copy of, or 0."""
        for letter in letters:
            number = letter.board
            if number is not None and number not in self.origins:
                self.origins[number] = self.origins.get(copied, number)
                if letter.kind == "daily":
                    self.days[number] = self.house.server.clock.now().astimezone(UTC).toordinal()

    def step(self) -> list[Posted]:
        """Let a random player send a random command."""
        house, dice = self.house, self.dice
        number = dice.choice(sorted(self.origins))
        board = board_of(house, number)
        assert board is not None
        who = dice.choice((*PLAYERS, *board.names * 3))
        what = dice.choice(("solo", "load", "load", "replay", "solve", "line", "line", "time"))
        if what == "time":
            return house.live(hours=dice.choice((1, 5, 14)))
        if what == "solo":
            return begin(
                house, who, f"blackbox solo {who} {dice.choice(('', '-practice'))}".strip()
            )
        if what == "load":
            letters = loaded(house, who, naming(number))
        elif what == "replay":
            letters = begin(house, who, f"blackbox replay {number} {who}")
        else:
            lines = (
                f"blackbox record {number}",
                f"blackbox show {number}",
                f"subscribe {number} {who} {PASSWORD}",
                f"blackbox save {number} {who} {PASSWORD}",
                f"blackbox rematch {number} {who} {PASSWORD}",
            )
            solve = f"blackbox solve {number} {who} {PASSWORD}"
            letters = house.send(address_of(who), solve if what == "solve" else dice.choice(lines))
        self.note(letters, number if what in {"load", "replay"} else 0)
        return letters


def _play_about(house: Indoors, dice: Random) -> None:
    played = Played(house, dice)
    for who in PLAYERS:
        line = f"blackbox daily {who} {PASSWORD} 07:30"
        played.note(house.send(address_of(who), line), 0)
    for _ in range(STEPS):
        letters = played.step()
        played.note(letters, 0)
        for letter in letters:
            _check(house, letter, played.origins, played.days)
    assert len(played.origins) > 5
    # When all are done and the day is over, the box is everybody's.
    for number in played.days:
        board = board_of(house, number)
        assert board is not None
        house.send(
            address_of(board.names[0]), f"blackbox solve {number} {board.names[0]} {PASSWORD}"
        )
    house.live(hours=24)
    for who in PLAYERS:
        (record,) = house.send(
            address_of(who), f"blackbox record {dice.choice(sorted(played.days))}"
        )
        assert record.kind == "record"


def _check(house: Indoors, letter: Posted, origins: dict[int, int], days: dict[int, int]) -> None:
    """A letter that opens a box is to somebody who sat there to the end, or nobody solves it."""
    number = letter.board
    if number is None and letter.kind == "record":
        (line,) = [row for row in letter.text.split("\n") if row.startswith("board: ")]
        number = int(line.removeprefix("board: "))
    if number is None or number not in origins:
        return
    origin = origins[number]
    if not tells(letter, id_of(house, number).partition(":")[2]):
        return
    today = house.server.clock.now().astimezone(UTC).toordinal()
    same = [copy for copy, day in days.items() if day == days.get(origin)] or [origin]
    rows = [row for row in (board_of(house, copy) for copy in same) if row is not None]
    board = board_of(house, number)
    assert board is not None
    player = letter.recipient.partition("@")[0]
    told_anyhow = origin == number and board.status == "finished" and player in board.names
    is_open = days.get(origin) != today and all(row.status == "finished" for row in rows)
    assert told_anyhow or is_open, (letter.kind, number, player)


def test_a_file_by_mail_is_no_way_round(house: Indoors) -> None:
    """Send the file as an attachment, with the number of the board changed by hand."""
    (first,) = begin(house, "alice", "blackbox solo alice -practice")
    (other,) = begin(house, "alice", "blackbox solo alice -size=4x4 -atoms=1")
    assert first.board is not None
    house.reply(first, "solve")
    (saved,) = house.send(ALICE, f"blackbox save {other.board} alice {PASSWORD}")
    (attached,) = saved.message.iter_attachments()
    text = attached.get_content()
    assert f"box: board {other.board}" in text
    for spelling in (f"board {other.board}", f"board  {other.board}", f"board 00{other.board}"):
        message = EmailMessage()
        house.mails += 1
        message["From"], message["To"] = ALICE, house.server.mail_domain.address
        message["Subject"] = f"blackbox load alice {PASSWORD}"
        message["Message-ID"] = f"<{house.mails}@files.example>"
        message.set_content("load\n")
        edited = text.replace(f"board {other.board}", spelling).encode()
        message.add_attachment(edited, maintype="text", subtype="plain", filename="game.txt")
        (refused,) = house.send_raw(ALICE, message.as_bytes(policy=policy.SMTP))
        assert refused.kind == "refusal"
