"""Solo games as files: saved by mail, mailed back as practice, without hidden facts in between."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of
from rows import rows
from solutions import box_of

from pbmserv.games.blackbox.game_ids import Parameters, descriptive_id
from pbmserv.games.blackbox.tatham_files import read_saved_game, write_saved_game
from pbmserv.games.blackbox.transcripts import read_transcript
from pbmserv.store.boards import boards

ALICE, BOB = map(address_of, ("alice", "bob"))
SAVED = Path(__file__).parents[1] / "golden" / "blackbox" / "saved"
SEED = "-size=4x4 -atoms=1 -seed=monday"


def files_of(letter: Posted) -> list[str]:
    texts = [attached.get_content() for attached in letter.message.iter_attachments()]
    return [text.replace("\r\n", "\n") for text in texts]


def file_of(letter: Posted) -> str:
    return files_of(letter)[0]


def mailed(house: Indoors, who: str, subject: str, text: str, to: str = "") -> list[Posted]:
    """Return a mail with an attached file, as mail programs send it."""
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


def test_a_game_that_runs_is_saved_without_its_box(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice {SEED}")
    for words in ("move 1 alice {} 1", "move 1 alice {} +a1", "undo 1 alice {}"):
        line(house, words.format(PASSWORD))
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    text = file_of(letter)
    assert "box: board 1" in text
    assert "monday" not in text
    assert box_of(house.server, 1).text.partition(":")[2] not in letter.raw.decode()
    assert text.split("undone:")[1].strip().startswith("2. +A1")

    for letters in (
        mailed(house, ALICE, "", text, letter.reply_to),
        house.send(ALICE, f"blackbox load alice {PASSWORD}", text),
    ):
        (refused,) = letters
        assert (
            "Board 1 is not over yet, and a copy could tell what is hidden on it."
            in refused.one_line
        )
    line(house, f"solve 1 alice {PASSWORD}")
    for letters in (
        mailed(house, ALICE, "", text, letter.reply_to),
        house.send(ALICE, f"blackbox load alice {PASSWORD}", text),
    ):
        (loaded,) = letters
        assert "is the game from your file, as practice." in loaded.one_line
        assert " 1|a |" in loaded.text, "the ray of the first move"
        (won,) = house.reply(loaded, "+a4,?")
        assert "You solved board" in won.one_line


def test_practice_goes_to_simon_tathams_program_and_back(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice -practice {SEED}")
    for move in ("1", "+b2,?", "+a1,!3"):
        line(house, f"move 1 alice {PASSWORD} {move}")
    line(house, f"undo 1 alice {PASSWORD}")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    assert "Simon Tatham's Black Box: open it there with Load." in letter.one_line
    ours, his = files_of(letter)
    assert f"box: {box_of(house.server, 1).text}" in ours
    game = read_saved_game(his)
    assert game.game.text == box_of(house.server, 1).text
    assert list(game.texts) == ["1", "+B2", "?", "+A1", "!3"]
    assert game.done == 3

    for text, steps in ((ours, 1), (his, 2)):
        (loaded,) = mailed(house, ALICE, "", text, letter.reply_to)
        assert "is the game from your file, as practice." in loaded.one_line
        assert "|? |" in loaded.text
        assert "Guess as often as you like." in loaded.one_line
        for _ in range(steps):  # moves taken back in the file can be redone
            (loaded,) = house.reply(loaded, "redo")
        assert "You sealed row 3 as surely empty." in loaded.one_line
        (refused,) = house.reply(loaded, "redo")
        assert "so there is nothing to redo" in refused.one_line


@pytest.mark.parametrize("name", ["checks", "wide"])
def test_a_file_of_his_is_gone_on_with_by_mail(house: Indoors, name: str) -> None:
    text = (SAVED / f"{name}.sav").read_text()
    (loaded,) = mailed(house, ALICE, f"blackbox load alice {PASSWORD}", text)
    assert "is the game from your file, as practice." in loaded.one_line
    (over,) = house.reply(loaded, "solve")
    assert "The ID of the box is" in over.one_line
    html = over.message.get_body(("html",))
    assert html is not None
    assert box_of(house.server, 1).text.partition(":")[0] in str(html.get_content())
    (again,) = house.reply(over, "undo")
    assert "Guess as often as you like." in again.one_line
    (saved,) = house.reply(again, "save")
    assert write_saved_game(read_saved_game(files_of(saved)[1])) == files_of(saved)[1]


def test_locks_and_the_seed_go_to_his_program_and_back(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice -practice {SEED}")
    for move in ("1", "+b2,lock b2", "lock 3"):
        line(house, f"move 1 alice {PASSWORD} {move}")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    ours, his = files_of(letter)
    assert "\nSEED    :6:monday\n" in his
    assert "MOVE    :5:LB2,2\nMOVE    :3:LR3\n" in his
    assert "\nseed: monday\n" in ours
    for text in (ours, his):
        (loaded,) = mailed(house, ALICE, "", text, letter.reply_to)
        assert "|?!|" in loaded.text
        (saved,) = house.reply(loaded, "save")
        assert files_of(saved)[1] == his
        (refused,) = house.reply(loaded, "/b2")
        assert "You have locked B2" in refused.one_line
        (opened,) = house.reply(loaded, "solve")
        assert f"The ID of the box is {box_of(house.server, 1).text}." in opened.one_line


def test_the_id_of_a_result_is_the_one_that_was_given(house: Indoors) -> None:
    """The order of its atoms is that of the drawing in Simon Tatham's program, not ours."""
    game_id = descriptive_id(Parameters(5, 5, 3, 3), [23, 1, 12])
    assert game_id != descriptive_id(Parameters(5, 5, 3, 3), {23, 1, 12})
    house.begin(ALICE, f"blackbox solo alice -id={game_id}")
    (over,) = line(house, f"solve 1 alice {PASSWORD}")
    assert f"The ID of the box is {game_id}." in over.one_line
    (refused,) = line(house, f"solo alice -id={game_id} -seed=monday")
    assert '"-seed=monday" contradicts it' in refused.one_line
    (refused,) = line(house, "solo alice -id=w2h2m4M4:021f21fe6cc601bf2b29")
    assert "fills all 4 cells" in refused.one_line


def test_a_box_that_is_full_has_an_id_that_his_program_reads(house: Indoors) -> None:
    house.begin(ALICE, "blackbox solo alice -size=2x2 -atoms=4")
    (over,) = line(house, f"solve 1 alice {PASSWORD}")
    assert "The ID of the box is w2h2m3M4:" in over.one_line
    house.begin(ALICE, "blackbox replay 1 alice")
    (box,) = line(house, f"move 2 alice {PASSWORD} a")
    assert "a guess needs 4." in box.one_line


def test_a_finished_game_can_be_gone_on_with_elsewhere(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice {SEED}")
    line(house, f"move 1 alice {PASSWORD} 1,+b2,?")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    transcript = read_transcript(file_of(letter))
    assert transcript.game.cells is not None
    assert transcript.moves == ("1,+B2,?",)
    (loaded,) = mailed(house, BOB, f"blackbox load bob {PASSWORD}", file_of(letter))
    assert loaded.recipient == BOB


@rows(
    ("text", "why"),
    [
        ("", "There is no saved game in this mail."),
        (
            "pbmserv transcript 1\ngame: blackbox\nbox: board 7\noptions:\n\nend\n",
            "not one of your solo boards",
        ),
        ("pbmserv transcript 1\ngame: blackbox\nbox: nonsense\noptions:\n\nend\n", "nonsense"),
        (
            "pbmserv transcript 1\ngame: blackbox\nbox: w3h3m1M1#x\noptions:\n\n1. Z9\nend\n",
            'Move 1 of the file, "Z9", is not possible',
        ),
        ("pbmserv transcript 1\n" + "x" * 5000, "load"),
        (
            "SAVEFILE:41:Simon Tatham's Portable Puzzle Collection\n",
            'its line "CPARAMS" is missing',
        ),
        ((SAVED / "locks.sav").read_text().replace(":F0", ":FF"), "is not a legal move there"),
    ],
)
def test_a_file_that_is_none_is_refused_and_leaves_no_board(
    house: Indoors, text: str, why: str
) -> None:
    (refused,) = mailed(house, ALICE, f"blackbox load alice {PASSWORD}", text)
    assert "Not done, nothing has changed" in refused.text
    assert why in refused.one_line
    assert house.send(ALICE, "blackbox games alice")[0].text.count("solo") <= 1
    with house.server.database.reading.connect() as connection:
        assert boards.load(connection, 1) is None


def test_somebody_elses_running_box_cannot_be_had(house: Indoors) -> None:
    house.begin(ALICE, f"blackbox solo alice {SEED}")
    (letter,) = line(house, f"save 1 alice {PASSWORD}")
    (refused,) = mailed(house, BOB, f"blackbox load bob {PASSWORD}", file_of(letter))
    assert "not one of your solo boards" in refused.one_line
    (refused,) = house.send(BOB, f"blackbox save 1 bob {PASSWORD}")
    assert "you can watch, but not play" in refused.one_line
