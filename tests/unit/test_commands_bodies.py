"""Commands in the body: the lines that are read, and the end of the reading."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.grammar.readings import NotTried
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.looking import Help
from pbmserv.errors import PlayerError

GAMES = frozenset({"blackbox"})


def mail(body, subject=""):
    return read_new_mail(subject, body, GAMES)


def boards(reading):
    """Return the number of the shown board or the code of the refusal for each tried line."""
    return [
        line.meaning.refusal.code
        if isinstance(line.meaning, PlayerError)
        else line.meaning.boards[0].board
        for line in reading.lines
        if not isinstance(line.meaning, NotTried)
    ]


def not_tried(reading):
    """Return the echo, the reason and the number of further commands of each untried line."""
    lines = [
        (line.echo, line.meaning) for line in reading.lines if isinstance(line.meaning, NotTried)
    ]
    whys = {meaning.why for _, meaning in lines}
    return [echo for echo, _ in lines], whys, sum(meaning.more for _, meaning in lines)


@rows("subject", ["", "multiple", "Re: MULT", "my moves", "Hi!", "thanks"])
def test_a_subject_that_is_no_command_leaves_the_body(subject):
    reading = mail("show 1\nshow 2\n", subject)
    assert boards(reading) == [1, 2]
    assert reading.multiple


@rows("stop", ["", "-- ", "--", "> show 1", " > show 1", "quit", "END", "Thanks!", "\u00a0"])
def test_reading_stops(stop):
    assert boards(mail(f"show 1\nshow 2\n{stop}\nshow 3")) == [1, 2]


def test_fifty_commands_are_tried_and_the_rest_is_listed():
    reading = mail("\n".join(f"show {number}" for number in range(1, 53)))
    assert boards(reading) == [*range(1, 51)]
    assert not_tried(reading) == (["show 51", "show 52"], {"limit"}, 0)


def test_commands_below_quit_are_listed_but_nothing_else_and_no_arguments():
    body = "show 1\nquit\nBest wishes,\nmove 12 alice secret g\n  ,+b2\nblackbox list\n"
    reading = mail(body + "\nresign 12 alice secret")
    assert boards(reading) == [1]
    listed = ["move ...", "blackbox list", "resign ..."]
    assert not_tried(reading) == (listed, {"stop", "blank"}, 0)
    assert reading.multiple


@rows(
    "line",
    [
        "What a nice day that was",
        "That is all for now",
        "Last week I was ill",
        "How are you doing",
        "Except for that move",
        "More about this tomorrow",
        "Held up by the weather",
    ],
)
def test_english_that_is_near_a_command_is_no_command(line):
    assert boards(mail(f"{line}\nshow 1")) == [1]
    assert boards(mail(f"show 1\n{line}\nshow 2")) == [1, "not-a-command", 2]
    assert boards(mail(f"{line}\n" * 5 + "show 1")) == ["not-a-command"]


@rows(("subject", "body"), [("", ""), ("Re: ", " \n\t\n"), ("\u200b", "\n")])
def test_an_empty_mail_asks_for_help(subject, body):
    assert [line.meaning for line in mail(body, subject).lines] == [Help()]


COMMANDS = (
    "blackbox move 3 alice secret c",
    "Blackbox Resign 3 alice secret",
    "move 3 alice secret c",
    "signoff alice secret",
    "change password alice secret rabbit",
    "message alice secret bob",
    "away alice secret until 24 Dec",
)


@rows("command", COMMANDS)
def test_a_command_below_the_commands_goes_to_nobody_and_is_named(command):
    for reading in (
        mail(f"{command}\nGood luck!", "blackbox move 12 alice secret g"),
        mail(f"blackbox move 12 alice secret g\n\n{command}\nGood luck!"),
        mail(f"blackbox chat 12 alice secret\nHello Bob,\n{command}\nGood luck!"),
        read_reply_to(Answered.QUESTION, f"g\n{command}\nGood luck!", GAMES),
        read_reply_to(Answered.QUESTION, f"chat\n{command}\nGood luck!", GAMES),
    ):
        assert reading.words.endswith("Good luck!")
        assert "secret" not in reading.words
        (echo,), whys, more = not_tried(reading)
        assert (echo.endswith("..."), whys <= {"below", "blank"}, more) == (True, True, 0)
        assert "secret" not in echo


@rows(
    "words",
    [
        "Blackbox rules are great!",
        "Show me what you can do",
        "I challenge you to a rematch",
        "Back home again, sorry it took so long",
        "My move was silly",
    ],
)
def test_words_that_only_begin_like_a_command_are_passed_on(words):
    reading = mail(f"{words}\nBob", "blackbox move 12 alice secret g")
    assert reading.words == f"{words}\nBob"
    assert len(reading.lines) == 1
