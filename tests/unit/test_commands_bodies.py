"""Commands in the body: the lines that are read, and the end of the reading."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.grammar.readings import NotTried
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.looking import Help, Show
from pbmserv.commands.table.model import BoardRef, Credentials, Secret
from pbmserv.commands.table.playing import MakeMove
from pbmserv.errors import PlayerError

GAMES = frozenset({"blackbox"})
ALICE = Credentials("alice", Secret("secret"))


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


def test_one_command_in_the_body_needs_no_numbered_report():
    assert not mail("show 1\n").multiple


def test_the_subject_says_that_many_come():
    assert mail("show 1\n", "multiple").multiple


def test_a_command_in_the_subject_leaves_the_body_to_the_opponent():
    reading = mail("show 1\n> show 2\nGood luck!\n-- \nAlice\n", "blackbox move 12 alice secret g")
    assert reading.words == "show 1\nGood luck!"
    assert [line.meaning for line in reading.lines] == [MakeMove("blackbox", 12, ALICE, "g")]


def test_at_most_4000_characters_reach_the_opponent():
    assert len(mail("x" * 9000, "blackbox chat 12 alice secret").words) == 4000


def test_indented_lines_continue_the_one_above():
    reading = mail("blackbox move 12\n   alice secret\n\tg,\n +b2\nshow 2")
    assert reading.lines[0].meaning == MakeMove("blackbox", 12, ALICE, "g,+b2")
    assert reading.lines[1].meaning == Show(None, (BoardRef(2),))


def test_a_body_that_is_indented_as_a_whole_is_still_one_command_a_line():
    assert boards(mail("  show 1\n  show 2\n")) == [1, 2]


def test_comments_are_passed_over():
    assert boards(mail("# my boards\nshow 1\n# and\nshow 2")) == [1, 2]


@rows("stop", ["", "-- ", "--", "> show 1", " > show 1", "quit", "END", "Thanks!", "\u00a0"])
def test_reading_stops(stop):
    assert boards(mail(f"show 1\nshow 2\n{stop}\nshow 3")) == [1, 2]


def test_text_below_the_blank_line_is_for_the_opponent():
    reading = mail("blackbox chat 12 alice secret\n\nHello\n> quoted\nBob\n-- \nAlice")
    assert reading.words == "Hello\nBob"


def test_blank_lines_above_the_first_command_do_not_stop():
    assert boards(mail("\n\n\nshow 1")) == [1]


def test_a_greeting_is_passed_over_but_a_line_among_commands_is_refused():
    assert boards(mail("Hello server,\nshow 1")) == [1]
    assert boards(mail("show 1\nlovely weather today\nshow 2")) == [1, "not-a-command", 2]


def test_five_lines_that_are_no_command_are_enough():
    prose = "lovely weather today\n"
    assert boards(mail(prose * 4 + "show 1")) == [1]
    assert boards(mail(prose * 5 + "show 1")) == ["not-a-command"]
    assert boards(mail("show 1\n" + prose * 9 + "show 2")) == [1] + ["not-a-command"] * 5


def test_fifty_commands_are_tried_and_the_rest_is_listed():
    reading = mail("\n".join(f"show {number}" for number in range(1, 53)))
    assert boards(reading) == [*range(1, 51)]
    assert not_tried(reading) == (["show 51", "show 52"], {"limit"}, 0)


def test_only_the_first_of_very_many_commands_are_listed():
    reading = mail("\n".join(f"show {number}" for number in range(1, 101)))
    assert boards(reading) == [*range(1, 51)]
    assert not_tried(reading) == ([*(f"show {n}" for n in range(51, 61)), "..."], {"limit"}, 40)


def test_commands_below_quit_are_listed_but_nothing_else_and_no_arguments():
    body = "show 1\nquit\nBest wishes,\nmove 12 alice secret g\n  ,+b2\nblackbox list\n"
    reading = mail(body + "\nresign 12 alice secret")
    assert boards(reading) == [1]
    listed = ["move ...", "blackbox list", "resign ..."]
    assert not_tried(reading) == (listed, {"stop", "blank"}, 0)
    assert reading.multiple


def test_commands_below_too_much_prose_are_listed():
    reading = mail("show 1\n" + "lovely weather today\n" * 6 + "show 2")
    assert boards(reading) == [1] + ["not-a-command"] * 5
    assert not_tried(reading) == (["show 2"], {"prose"}, 0)


def test_nothing_is_listed_if_no_command_was_found():
    assert not_tried(mail("quit\nshow 1")) == ([], set(), 0)
    assert not_tried(mail("lovely weather today\n" * 5 + "show 1")) == ([], set(), 0)


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


def test_misspelt_commands_count_as_lines_that_are_none():
    reading = mail("show 1\n" + "liszt\n" * 6 + "show 2")
    assert boards(reading) == [1] + ["unknown-command"] * 5
    assert not_tried(reading)[0] == ["show 2"]


def test_a_wrong_line_does_not_keep_the_others_from_being_read():
    assert boards(mail("show 1\nmove 2\nshow 3")) == [1, "missing-userid", 3]


def test_a_line_that_is_too_long_is_refused():
    assert boards(mail("show " + "1 " * 2000)) == ["line-too-long"]


@rows(("subject", "body"), [("", ""), ("Re: ", " \n\t\n"), ("\u200b", "\n")])
def test_an_empty_mail_asks_for_help(subject, body):
    assert [line.meaning for line in mail(body, subject).lines] == [Help()]


def test_a_line_of_nothing_in_quotes_is_passed_over():
    assert boards(mail('"  "\nshow 1')) == [1]


def test_an_english_subject_gives_way_to_a_command_written_in_full_below():
    reading = mail("blackbox move 12 alice secret g\n", "Move for Bob")
    assert reading.lines[0].meaning == MakeMove("blackbox", 12, ALICE, "g")


def test_chat_does_not_become_a_command_because_the_subject_has_a_mistake():
    reading = mail("show me the money", "blackbox chat 12 alice")
    assert boards(reading) == ["missing-password"]


def test_a_wrapped_password_is_not_repeated():
    reading = mail("blackbox move 12 alice\nsecret g,+b2\n")
    assert all("secret" not in line.echo for line in reading.lines)


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


def test_words_right_below_chat_are_for_the_opponent_unless_they_are_commands():
    assert mail("blackbox chat 12 alice secret\nHello Bob").words == "Hello Bob"
    assert mail("message alice secret bob\nHello Bob\n\nAlice").words == "Hello Bob\n\nAlice"
    reading = mail("blackbox chat 12 alice secret\nshow 2\n\nHello Bob")
    assert reading.words == "Hello Bob"
    assert isinstance(reading.lines[1].meaning, Show)


@rows(("stop", "why"), [("quit", "stop"), ("thanks", "stop"), ("", "")])
def test_an_announcement_of_commands_without_any_is_explained(stop, why):
    refusal = mail(f"{stop}\nshow 1" if stop else "", "multiple").lines[0].meaning.refusal
    assert (refusal.code, refusal.values["stopped"]) == ("no-commands", why)


def test_every_line_below_an_announcement_of_commands_is_reported():
    lines = mail("Hello\n" + "lovely day\n" * 4 + "show 1\nlovely secret", "multiple").lines
    echoes = [line.echo for line in lines]
    assert echoes[:4] == [f"line {number}: ... day" for number in (2, 3, 4, 5)]
    assert all(isinstance(line.meaning, PlayerError) for line in lines[:4])
    assert [type(line.meaning) for line in lines[4:]] == [NotTried, NotTried]
    assert echoes[4:] == ["show 1", "line 7: ..."]
    (below, *_) = mail("list\n\nsolo\nYours", "multiple").lines[1:]
    assert (below.echo, below.meaning) == ("solo", NotTried("blank"))
