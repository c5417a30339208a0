"""Replies to letters, whose address names the player and whose first line is the command."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.grammar.plain_words import says_yes
from pbmserv.commands.grammar.readings import NotTried
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.table.accounts import (
    Away,
    Back,
    ChangePassword,
    Delete,
    Prefs,
    SignOff,
)
from pbmserv.commands.table.command_types import Credentials, ReplyMove, Secret, TrayReply, Yes
from pbmserv.commands.table.looking import (
    Follow,
    Games,
    Help,
    History,
    Ratings,
    ShowAs,
)
from pbmserv.commands.table.playing import (
    Chat,
    Check,
    ConfirmMove,
    MakeMove,
    Preview,
    Queue,
    Resign,
    Submit,
    Undo,
)
from pbmserv.commands.table.starting import Accept, Seek
from pbmserv.errors import PlayerError

GAMES = frozenset({"blackbox"})
ALICE = Credentials("alice", Secret("secret"))


def reply(body):
    return read_reply_to(Answered.QUESTION, body, GAMES)


def meaning_of(body):
    return reply(body).lines[0].meaning


@rows(
    ("body", "command"),
    [
        ("", Yes(is_empty=True)),
        ("prefs digest=off format = text", Prefs(None, (("digest", "off"), ("format", "text")))),
        ("away until 24 Dec", Away(None, "24 Dec")),
        ("away alice secret until friday", Away(ALICE, "friday")),
        ("back alice secret", Back(ALICE)),
        ("signoff", SignOff(None)),
        ("delete", Delete(None)),
        ("delete alice secret", Delete(ALICE)),
        ("queue g if #: c, +b2; d else j#7", Queue(None, None, None, "g if #: c, +b2; d else j#7")),
        ("queue 12 alice secret g", Queue(None, 12, ALICE, "g")),
        ("submit g, +b2", Submit(None, None, None, "g,+b2")),
        ("submit g#7", Submit(None, None, None, "g", 7)),
        ("confirm 12 alice secret", ConfirmMove(None, 12, ALICE)),
        ("blackbox undo", Undo("blackbox", None, None)),
        ("blackbox check 12 alice secret", Check("blackbox", 12, ALICE)),
        ("preview g, +b2", Preview(None, None, "g,+b2")),
        ("preview 12 g", Preview(None, 12, "g")),
        ("history", History(None)),
        ("history bob", History(None, ("bob",))),
        ("ratings", Ratings(None)),
        ("blackbox ratings", Ratings("blackbox")),
        ("ratings alice, bob", Ratings(None, ("alice", "bob"))),
        ("seek 2 -size=8x8", Seek("blackbox", None, 2, ("-size=8x8",))),
        ("blackbox seek off", Seek("blackbox", None, off=True)),
        ("seek alice secret 2", Seek("blackbox", ALICE, 2)),
        ("subscribe", Follow(None, None, "all")),
        ("notify 13", Follow(13, None, "end")),
        ("blackbox chat", Chat(None, None, None)),
        ("move alice 12 secret g", MakeMove(None, 12, ALICE, "g")),
        ("showas active", ShowAs(None, None, (), "active")),
        ("games all", Games(None, (), "all")),
        ("help", Help()),
        ("help moves", Help(("moves",))),
        ("password newsecret", ChangePassword(None, Secret("newsecret"))),
        ("Password: 'new secret'", ChangePassword(None, Secret("new secret"))),
        ("resign 12 alice secret", Resign(None, 12, ALICE)),
        ("chat 12 alice secret", Chat(None, 12, ALICE)),
        (
            "change password alice secret newer",
            ChangePassword(ALICE, Secret("newer")),
        ),
    ],
)
def test_a_command_opens_the_reply(body, command):
    assert meaning_of(body) == command


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
