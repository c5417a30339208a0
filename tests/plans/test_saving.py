"""Solo games as files: saved by mail, mailed back as practice, and nothing hidden in between."""

from __future__ import annotations

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.games.blackbox.transcripts import read_transcript
from pbmserv.store.boards import boards

ALICE, BOB = map(address_of, ("alice", "bob"))
SEED = "-size=4x4 -atoms=1 -seed=monday"


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob")
        yield server


def flat(letter: Posted) -> str:
    return " ".join(letter.text.split())


def file_of(letter: Posted) -> str:
    (attached,) = letter.message.iter_attachments()
    text = attached.get_content()
    assert isinstance(text, str)
    return text.replace("\r\n", "\n")


def mailed(house: Indoors, who: str, subject: str, text: str, to: str = "") -> list[Posted]:
    """A mail with a file, as mail programs send it."""
    house.mails += 1
    message = EmailMessage()
    message["From"], message["Subject"] = who, subject
    message["To"] = to or house.server.mail_domain.address
    message["Message-ID"] = f"<{house.mails}@files.example>"
    message.set_content("load\n")
    message.add_attachment(text.encode(), maintype="text", subtype="plain", filename="game.txt")
    return house.send_raw(who, message.as_bytes(policy=policy.SMTP), to)


def line(house: Indoors, words: str) -> list[Posted]:
    return house.send(ALICE, f"blackbox {words}")


def test_a_practice_game_goes_by_mail_and_comes_back(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice -practice {SEED}")
    for words in ("move 1 alice {} 1", "move 1 alice {} 2,+a1", "undo 1 alice {}"):
        line(house, words.format(PASSWORD))
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    text = file_of(letter)
    assert "box: board 1" in text
    with house.server.database.reading.connect() as connection:
        board = boards.load(connection, 1)
    assert board is not None
    hidden = next(word for word in board.options if word.startswith("-id=")).partition(":")[2]
    assert hidden not in letter.raw.decode()
    assert text.split("undone:")[1].strip().startswith("2. 2,+A1")

    for letters in (
        mailed(house, ALICE, "", text, letter.reply_to),
        house.send(ALICE, f"blackbox load alice {PASSWORD}", text),
    ):
        (refused,) = letters
        assert "Board 1 is not over yet, and a copy could tell what is hidden on it." in flat(
            refused
        )
    line(house, f"solve 1 alice {PASSWORD}")
    for letters in (
        mailed(house, ALICE, "", text, letter.reply_to),
        house.send(ALICE, f"blackbox load alice {PASSWORD}", text),
    ):
        (loaded,) = letters
        assert "is the game from your file, as practice." in flat(loaded)
        assert " 1|a |" in loaded.text, "the ray of the first move"
        (won,) = house.reply(loaded, "+a4,?")
        assert "You solved board" in flat(won)


def test_a_finished_game_can_be_gone_on_with_elsewhere(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice {SEED}")
    line(house, f"move 1 alice {PASSWORD} 1,+b2,?")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    found = read_transcript(file_of(letter))
    assert found.game.cells is not None
    assert found.moves == ("1,+B2,?",)
    (loaded,) = mailed(house, BOB, f"blackbox load bob {PASSWORD}", file_of(letter))
    assert loaded.recipient == BOB


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "There is no saved game in this mail."),
        ("pbmserv transcript 1\ngame: blackbox\nbox: board 7\noptions:\n\nend\n", "no solo board"),
        ("pbmserv transcript 1\ngame: blackbox\nbox: nonsense\noptions:\n\nend\n", "nonsense"),
        (
            "pbmserv transcript 1\ngame: blackbox\nbox: w3h3m1M1#x\noptions:\n\n1. Z9\nend\n",
            'Move 1 of the file, "Z9", cannot be made',
        ),
        ("pbmserv transcript 1\n" + "x" * 5000, "load"),
    ],
)
def test_a_file_that_is_none_is_refused_and_leaves_no_board(
    house: Indoors, text: str, why: str
) -> None:
    (refused,) = mailed(house, ALICE, f"blackbox load alice {PASSWORD}", text)
    assert "Not done, nothing has changed" in refused.text
    assert why in flat(refused)
    assert house.send(ALICE, "blackbox games alice")[0].text.count("solo") <= 1
    with house.server.database.reading.connect() as connection:
        assert boards.load(connection, 1) is None


def test_somebody_elses_running_box_cannot_be_had(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice -practice {SEED}")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    (refused,) = mailed(house, BOB, f"blackbox load bob {PASSWORD}", file_of(letter))
    assert "no solo board of yours" in flat(refused)
    (refused,) = house.send(BOB, f"blackbox save 1 bob {PASSWORD}")
    assert "you can watch, but not play" in flat(refused)
