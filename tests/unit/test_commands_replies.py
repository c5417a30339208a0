"""Replies to our letters: the address says who speaks, the first line says what."""

from __future__ import annotations

import pytest

from pbmserv.commands.model import (
    Accept,
    BoardRef,
    ChangePassword,
    Chat,
    Credentials,
    Games,
    Help,
    ListGames,
    MakeMove,
    Reject,
    ReplyMove,
    Resign,
    Secret,
    Show,
    ShowAs,
    Yes,
)
from pbmserv.commands.reading import read
from pbmserv.errors import Misread

GAMES = frozenset({"blackbox"})
ALICE = Credentials("alice", Secret("secret"))


def reply(body):
    return read("Re: Blackbox board 12", body, games=GAMES, reply=True)


def asked(body):
    return reply(body).lines[0].asked


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("", Yes()),
        ("\n\n -- \nAlice", Yes()),
        ("> quoted only", Yes()),
        ("yes", Yes()),
        ("Yes, please!", Yes()),
        ("OK", Yes()),
        ("confirm.", Yes()),
        ("accept", Accept(None, None, None)),
        ("Accept, with pleasure", Accept(None, None, None)),
        ("accpet", Accept(None, None, None)),
        ("reject", Reject(None, None, None)),
        ("resign", Resign(None, None, None)),
        ("\n  RESIGN. \n", Resign(None, None, None)),
        ("move resign", Resign(None, None, None)),
        ("show", ShowAs(None, None)),
        ("board", ShowAs(None, None)),
        ("show 13", Show(None, (BoardRef(13),))),
        ("games", Games(None)),
        ("games all", Games(None, (), "all")),
        ("games bob", Games(None, ("bob",))),
        ("help", Help()),
        ("help moves", Help(("moves",))),
        ("list", ListGames()),
        ("password newsecret", ChangePassword(None, Secret("newsecret"))),
        ("Password: 'new secret'", ChangePassword(None, Secret("new secret"))),
        ("blackbox move 12 alice secret g", MakeMove("blackbox", 12, ALICE, "g")),
        ("move 12 alice secret g", MakeMove(None, 12, ALICE, "g")),
        ("resign 12 alice secret", Resign(None, 12, ALICE)),
        ("chat 12 alice secret", Chat(None, 12, ALICE)),
        (
            "change password alice secret newer",
            ChangePassword(ALICE, Secret("newer")),
        ),
    ],
)
def test_a_command_opens_the_reply(body, command):
    assert asked(body) == command


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("g,+b2", "g,+b2"),
        ("move g,+b2", "g,+b2"),
        ("mvoe g", "g"),
        ("?", "?"),
        ("-a1", "-a1"),
        ("\u2013a1", "-a1"),
        ("b3, d3, 8h, 13n", "b3, d3, 8h, 13n"),
        ("move 5, +b2", "5, +b2"),
        ("5", "5"),
        ("resign? Never!", "resign? Never!"),
        ("resing", "resing"),
        ("pass", "pass"),
        ("undo", "undo"),
    ],
)
def test_everything_else_may_be_a_move(body, line):
    assert asked(body) == ReplyMove((line,), ("",))


def test_the_words_below_each_line_are_for_the_opponent():
    reading = reply("Hi Bob!\n\ng,+b2\nYour turn.\n> old text\n-- \nAlice")
    assert reading.lines[0].asked == ReplyMove(
        ("Hi Bob!", "g,+b2", "Your turn."), ("g,+b2\nYour turn.", "Your turn.", "")
    )


def test_at_most_five_lines_may_be_the_move():
    assert len(asked("\n".join("abcdefgh")).lines) == 5


def test_chat_may_begin_on_its_own_line():
    reading = reply("chat hello there\nhow are you?\n-- \nAlice")
    assert reading.lines[0].asked == Chat(None, None, None)
    assert reading.words == "hello there\nhow are you?"


def test_text_below_a_command_is_for_the_opponent():
    assert reply("resign\n\nWell played.").words == "Well played."


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("resign me not", "stands-alone"),
        ("reject or accept?", "stands-alone"),
        ("password", "missing-new-password"),
        ("password correct horse battery", "too-many-words"),
        ("password abc", "short-password"),
        ("my new password is hunter2", "reply-password"),
        ("move 12 alice secret", "missing-move"),
        ("signup alice", "missing-password"),
        ("check", "command-later"),
        ("queue g", "command-later"),
        ("blackbox frobnicate", "unknown-command"),
        ("list chess", "unknown-game"),
    ],
)
def test_what_a_reply_cannot_mean_is_refused(body, code):
    found = asked(body)
    assert isinstance(found, Misread)
    assert found.refusal.code == code


def test_several_full_commands_in_a_reply_are_all_read():
    reading = reply("blackbox show 12\nblackbox show 13\n")
    assert reading.multiple
    assert len(reading.lines) == 2


def test_the_subject_of_a_reply_says_nothing():
    reading = read("blackbox resign 12 alice secret", "g", games=GAMES, reply=True)
    assert reading.lines[0].asked == ReplyMove(("g",), ("",))
