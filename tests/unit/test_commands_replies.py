"""Replies to letters, whose address names the player and whose first line is the command."""

# ruff: noqa: RUF001 - typographic characters are what is tested

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
    Export,
    Prefs,
    SignOff,
)
from pbmserv.commands.table.looking import (
    Follow,
    Games,
    Help,
    History,
    ListGames,
    Ratings,
    Record,
    Show,
    ShowAs,
    Standings,
)
from pbmserv.commands.table.model import BoardRef, Credentials, ReplyMove, Secret, TrayReply, Yes
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
from pbmserv.commands.table.starting import Accept, Reject, Rematch, Seek
from pbmserv.errors import Misread, PlayerError

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
        ("prefs", Prefs(None)),
        ("prefs digest=off format = text", Prefs(None, (("digest", "off"), ("format", "text")))),
        ("prefs digest daily@07:30", Prefs(None, (("digest", "daily@07:30"),))),
        ("prefs alice secret digest=off", Prefs(ALICE, (("digest", "off"),))),
        ("away until 24 Dec", Away(None, "24 Dec")),
        ("away until in 5 days", Away(None, "in 5 days")),
        ("Away tomorrow", Away(None, "tomorrow")),
        ("away alice secret until friday", Away(ALICE, "friday")),
        ("away alice secret friday", Away(ALICE, "friday")),
        ("back", Back(None)),
        ("Back again.", Back(None)),
        ("back alice secret", Back(ALICE)),
        ("export", Export(None)),
        ("signoff", SignOff(None)),
        ("delete", Delete(None)),
        ("delete alice secret", Delete(ALICE)),
        ("queue g if #: c, +b2; d else j#7", Queue(None, None, None, "g if #: c, +b2; d else j#7")),
        ("queue 5 if #: c", Queue(None, None, None, "5 if #: c")),
        ("queue -", Queue(None, None, None, "-")),
        ("queue 12 alice secret g", Queue(None, 12, ALICE, "g")),
        ("submit g, +b2", Submit(None, None, None, "g,+b2")),
        ("submit g#7", Submit(None, None, None, "g", 7)),
        ("confirm 12 alice secret", ConfirmMove(None, 12, ALICE)),
        ("undo", Undo(None, None, None)),
        ("Undo, please!", Undo(None, None, None)),
        ("undo my last move", Undo(None, None, None)),
        ("move undo", Undo(None, None, None)),
        ("blackbox undo", Undo("blackbox", None, None)),
        ("check", Check(None, None, None)),
        ("blackbox check 12 alice secret", Check("blackbox", 12, ALICE)),
        ("preview g, +b2", Preview(None, None, "g,+b2")),
        ("preview 5, +b2", Preview(None, None, "5,+b2")),
        ("preview 12 g", Preview(None, 12, "g")),
        ("rematch", Rematch(None, None, None)),
        ("record", Record(None, None)),
        ("record 13", Record(None, 13)),
        ("history", History(None)),
        ("history bob", History(None, ("bob",))),
        ("ratings", Ratings(None)),
        ("blackbox ratings", Ratings("blackbox")),
        ("ratings alice, bob", Ratings(None, ("alice", "bob"))),
        ("standings", Standings(None)),
        ("seek", Seek("blackbox", None)),
        ("seek 2 -size=8x8", Seek("blackbox", None, 2, ("-size=8x8",))),
        ("blackbox seek off", Seek("blackbox", None, off=True)),
        ("seek alice secret 2", Seek("blackbox", ALICE, 2)),
        ("subscribe", Follow(None, None, "all")),
        ("notify 13", Follow(13, None, "end")),
        ("unsubscribe", Follow(None, None, "off")),
        ("blackbox chat", Chat(None, None, None)),
        ("move alice 12 secret g", MakeMove(None, 12, ALICE, "g")),
        ("\n\n -- \nAlice", Yes(is_empty=True)),
        ("> quoted only", Yes(is_empty=True)),
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
        ("showas", ShowAs(None, None)),
        ("showas active", ShowAs(None, None, (), "active")),
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
    assert meaning_of(body) == command


@rows(
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


def test_at_most_five_lines_may_be_the_move():
    assert len(meaning_of("\n".join("abcdefgh")).lines) == 5


def test_chat_may_begin_on_its_own_line():
    reading = reply("chat hello there\nhow are you?\n-- \nAlice")
    assert reading.lines[0].meaning == Chat(None, None, None)
    assert reading.words == "hello there\nhow are you?"


def test_text_below_a_command_is_for_the_opponent():
    assert reply("resign\n\nWell played.").words == "Well played."


@rows(
    ("body", "code"),
    [
        ("resign me not", "stands-alone"),
        ("reject or accept?", "stands-alone"),
        ("signoff please", "stands-alone"),
        ("delete this mail", "stands-alone"),
        ("queue", "missing-plan"),
        ("submit", "missing-move"),
        ("prefs nonsense", "bad-setting"),
        ("away", "missing-date"),
        ("away until doomsday", "bad-date"),
        ("seek nobody", "bad-seats"),
        ("password", "missing-new-password"),
        ("password correct horse battery", "too-many-words"),
        ("password abc", "short-password"),
        ("my new password is hunter2", "reply-password"),
        ("move 12 alice secret", "missing-move"),
        ("signup alice", "missing-password"),
        ("solve now", "stands-alone"),
        ("blackbox frobnicate", "unknown-command"),
        ("list chess", "unknown-game"),
    ],
)
def test_a_reply_that_cannot_be_understood_is_refused(body, code):
    meaning = meaning_of(body)
    assert isinstance(meaning, Misread)
    assert meaning.refusal.code == code


def test_several_full_commands_in_a_reply_are_all_read():
    reading = reply("blackbox show 12\nblackbox show 13\n")
    assert reading.multiple
    assert len(reading.lines) == 2


def test_the_subject_of_a_reply_says_nothing():
    reading = read_reply_to(Answered.QUESTION, "g", GAMES)
    assert reading.lines[0].meaning == ReplyMove(("g",), ("",))


def test_an_empty_reply_is_not_said_to_be_a_yes():
    assert reply("> quoted only").lines[0].echo == "(an empty reply)"


def test_a_reply_that_names_no_game_means_the_first_of_several():
    (line,) = read_reply_to(Answered.QUESTION, "seek", ("null", "blackbox")).lines
    assert line.meaning == Seek("null", None)


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


def test_each_line_is_for_the_board_in_front_of_it():
    assert tray("412: 5\n413: g, +b2\n#414: resign\n415: chat Well played!\n") == [
        ("412: 5", TrayReply(412, "5")),
        ("413: g, +b2", TrayReply(413, "g, +b2")),
        ("414: resign", TrayReply(414, "resign")),
        ("415: chat", TrayReply(415, "chat Well played!")),
    ]


@rows("line", ["412: 5", "#412: 5", "#412 5", "412 : 5", "＃４１２： ５"])
def test_a_line_with_a_colon_tells_by_itself_that_a_board_is_in_front(line):
    assert tray(line, Answered.QUESTION) == [("412: 5", TrayReply(412, "5"))]


@rows("line", ["12 :)", "12 :-) !", "5:("])
def test_a_smile_behind_a_port_puts_no_board_in_front(line):
    assert meaning_of(line) == ReplyMove((line,), ("",))


@rows("line", ["412:5", "412 5", "412. 5", "Board 412: 5", "412) 5"])
def test_in_a_reply_to_the_one_mail_a_day_the_colon_may_be_missing(line):
    assert tray(line) == [("412: 5", TrayReply(412, "5"))]


def test_a_greeting_and_words_below_belong_to_no_board():
    body = "Good morning!\n\n412: 5\n\n413: g\n\nSee you,\nAlice\n> 414: resign"
    assert [command for _, command in tray(body)] == [TrayReply(412, "5"), TrayReply(413, "g")]


def test_a_line_without_a_board_is_refused_and_the_others_are_read():
    reading = tray("412: g\nmy secret thoughts\n413: h\n414: 415: 5")
    assert [command for _, command in reading] == [
        TrayReply(412, "g"),
        "tray-line",
        TrayReply(413, "h"),
        "tray-line",
    ]
    assert reading[1][0] == "..."


@rows(
    "body",
    ["412: 5\ngames", "412: 5\n\ngames\n\nSee you,\nAlice", "games\n412: 5", "Hi!\ngames\n412: 5"],
)
def test_a_command_may_be_a_line_among_those_for_boards(body):
    assert {command for _, command in tray(body)} == {TrayReply(412, "5"), Games(None)}


@rows("line", ["resign", "yes", "chat Hello", "412", "we go to the pub"])
def test_a_line_that_could_mean_any_board_is_no_such_command(line):
    assert tray(f"412: 5\n{line}")[1][1] == "tray-line"


def test_a_line_for_a_board_that_cannot_be_understood_is_refused():
    assert tray("412: resign or not\n413: queue") == [
        ("412: resign ...", "stands-alone"),
        ("413: queue", "missing-plan"),
    ]


def test_a_long_line_may_be_continued():
    assert tray("412: g,\n   +b2") == [("412: g, +b2", TrayReply(412, "g, +b2"))]


def test_a_password_makes_it_the_command_that_it_is():
    assert tray("412: resign 412 alice secret") == [
        ("412: resign 412 alice ***", Resign(None, 412, ALICE))
    ]


def test_reading_stops_there_as_elsewhere():
    assert tray("412: 5\nquit\n413: g")[1:] == [("413: ...", NotTried("stop"))]
    many = "".join(f"{number}: 5\n" for number in range(1, 63))
    assert len(tray(many)) == 50 + 10 + 1
    assert tray(many)[-1] == ("...", NotTried("limit", 2))


def test_a_reply_to_the_one_mail_a_day_may_be_any_other_reply():
    for body, command in [("show 12", Show(None, (BoardRef(12),))), ("games", Games(None))]:
        (line,) = read_reply_to(Answered.DIGEST, body, GAMES).lines
        assert line.meaning == command


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
        "yes",
        "Yes, please!",
        "OK",
        "ok \U0001f44d",
        "sure, with pleasure",
        "Yes, it\u2019s me",
        "accept",
    ],
)
def test_words_that_agree_do_not_take_a_yes_back(body):
    assert isinstance(meaning_of(body), Yes | Accept | ReplyMove)
    assert says_yes(body)


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


def test_a_first_move_may_stand_below_accept():
    assert meaning_of("accept\n\nb2,f4") == Accept(None, None, None, ReplyMove(("b2,f4",), ("",)))
    assert meaning_of("ok\nb2,f4\nGood luck!").below.after == ("Good luck!", "")


def test_words_below_a_question_are_reported():
    assert [line.echo for line in reply("show\n+c3\nThanks,\nBob").lines] == ["show", "+c3"]
    assert [line.echo for line in reply("games\n\ng").lines] == ["games", "g"]
