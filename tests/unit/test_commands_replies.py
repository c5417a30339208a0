"""Replies to letters, whose address names the player and whose first line is the command."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.grammar.consent import consent_in, says_yes
from pbmserv.commands.grammar.readings import REST, NotTried
from pbmserv.commands.grammar.sentences import sentences, talk
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.table.command_types import ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Preview
from pbmserv.commands.table.starting import Accept
from pbmserv.errors import PlayerError

GAMES = {"blackbox": "Blackbox"}


def reply(body):
    return read_reply_to(Answered.QUESTION, body, GAMES)


def meaning_of(body):
    return reply(body).lines[0].meaning


@rows(
    ("body", "line"),
    [
        ("g,+b2", "g,+b2"),
        ("move g,+b2", "g,+b2"),
        ("mvoe g", "g"),
        ("-a1", "-a1"),
        ("\u2013a1", "-a1"),
        ("b3, d3, 8h, 13n", "b3, d3, 8h, 13n"),
        ("move 5, +b2", "5, +b2"),
        ("resign? Never!", "resign? Never!"),
        ("resing", "resing"),
        ("pass", "pass"),
        ("b2#1", "b2#1"),
        ("move b2#1", "b2#1"),
        ("12:30 is when I am back", "12:30 is when I am back"),
        ("Back from the sea at last, so:", "Back from the sea at last, so:"),
        ("Check this out", "Check this out"),
        ("History repeats itself every time", "History repeats itself every time"),
    ],
)
def test_everything_else_may_be_a_move(body, line):
    assert meaning_of(body) == ReplyMove((line,), ("",))


def test_the_words_below_each_line_are_for_the_opponent():
    reading = reply("Hi Bob!\n\ng,+b2\nYour turn.\n> old text\n-- \nAlice")
    assert reading.lines[0].meaning == ReplyMove(
        ("Hi Bob!", "g,+b2", "Your turn."), ("g,+b2\nYour turn.", "Your turn.", ""), (1,)
    )


def test_a_look_at_any_board_may_name_it():
    assert meaning_of("preview 12 g") == Preview(None, 12, "g")


# The one mail a day is answered with a line for each board.


def tray(body, answered=Answered.DIGEST):
    """Return the echo of each line, and its command or the code of its refusal."""
    reading = read_reply_to(answered, body, GAMES)
    assert reading.multiple
    assert not reading.words
    return [
        (
            line.echo,
            line.meaning.refusal.code if isinstance(line.meaning, PlayerError) else line.meaning,
        )
        for line in reading.lines
    ]


@rows("line", ["12 :)", "12 :-) !", "5:("])
def test_a_smile_behind_a_port_puts_no_board_in_front(line):
    assert meaning_of(line) == ReplyMove((line,), ("",))


@rows("line", ["412:5", "412 5", "412. 5", "Board 412: 5", "412) 5"])
def test_in_a_reply_to_the_one_mail_a_day_the_colon_may_be_missing(line):
    assert tray(line) == [("412: 5", TrayReply(412, "5"))]


def test_in_a_reply_to_the_one_mail_a_day_boards_may_stand_at_the_end_of_lines():
    lines = tray("accept 412\nresign 415.")
    assert lines == [
        ("412: accept", TrayReply(412, "accept")),
        ("415: resign", TrayReply(415, "resign")),
    ]


def test_a_yes_below_a_doubt_is_not_clear():
    assert consent_in("I do not know yet.\nYes, we can play") is None
    assert consent_in("Hello Alice!\nYes, we can play").is_yes


def test_a_line_with_two_boards_is_for_neither():
    assert tray("412: 413: g") == [(REST, "tray-line")]


@rows(
    ("body", "lines", "left"),
    [
        ("+b2\ng", ("+b2", "g"), ()),
        ("+b2\n\nA", ("+b2",), ("A",)),
        ("g\n\nHave fun!\n\nA", ("g", "Have fun!"), ("A",)),
        ("Nice one!\n\nM", ("Nice one!",), ("M",)),
        ("Nice one!\n\n14", ("Nice one!", "14"), ()),
        ("Nice one!\ng", ("Nice one!", "g"), ()),
        ("Nice one!\n\ng\n\nYours,\nMartha", ("Nice one!", "g", "Yours,", "Martha"), ()),
        ("Hello Bob,\n\ng", ("Hello Bob,", "g"), ()),
        ("Guten Tag Bob\n\ng", ("Guten Tag Bob", "g"), ()),
        ("Good luck!\n\nA", ("Good luck!",), ("A",)),
    ],
)
def test_a_letter_apart_from_the_move_may_be_an_initial(body, lines, left):
    reading = reply(body)
    assert reading.lines[0].meaning.lines == lines
    assert tuple(line.echo for line in reading.lines[1:]) == left
    assert all(line.meaning == NotTried("apart") for line in reading.lines[1:])
    assert not {*left} & {*reading.words.split("\n")}


@rows(
    "body",
    [
        "yes, but not now",
        "Yes. Or wait, no.",
        "ok, but next week",
        "ok?",
        "ok what does that mean?",
        "accept nothing",
        "no",
        "",
    ],
)
def test_words_that_may_take_a_yes_back_leave_none(body):
    assert not isinstance(meaning_of(body), Accept)
    assert (
        meaning_of(body) == Yes(is_empty=True)
        if not body
        else not isinstance(meaning_of(body), Yes)
    )
    assert not says_yes(body)


@rows("text", ["Viele Grüße, Bob", "Viele Grusse", "Buenos días Ana", "Olá!", "Gruß, Ben"])
def test_greetings_and_farewells_are_no_talk_with_and_without_accents(text):
    assert not talk(sentences(text))
