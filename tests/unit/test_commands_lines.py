"""One command in the subject: all forms of the language, mistakes, and refusals."""

# ruff: noqa: RUF001 - typographic characters are what is tested

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table import accounts, events, ladder, looking, playing, starting
from pbmserv.commands.table.accounts import (
    ChangeAddress,
    Signup,
)
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.command_types import BoardRef, Command, Credentials, Secret, Yes
from pbmserv.commands.table.looking import (
    Games,
    History,
    Ratings,
    Show,
    ShowAs,
)
from pbmserv.commands.table.playing import (
    MakeMove,
    Queue,
    Resign,
    Submit,
)
from pbmserv.commands.table.row_types import Arguments, Place
from pbmserv.commands.table.starting import Accept, Challenge, Seek

GAMES = {"blackbox": "Blackbox"}
ALICE = Credentials("alice", Secret("secret"))
B = "blackbox"


def meaning_of(subject, body="", games=GAMES):
    (line,) = read_new_mail(subject, body, games).lines
    return line.meaning


FORMS = [
    (
        "signup Alice_1-x secret <Alice@Example.ORG>, mailto:al@localhost",
        Signup("alice_1-x", Secret("secret"), ("Alice@example.org", "al@localhost")),
    ),
    ("add alice 'my secret'", Signup("alice", Secret("my secret"))),
    ("blackbox challenge alice -race", Challenge(B, ("alice",), ("-race",))),
    (
        "blackbox challenge alice bob -Size=8x8 -atoms=3-6 -fair --nagtime=3 --FORFEITTIME=9d",
        Challenge(
            B,
            ("alice", "bob"),
            ("-size=8x8", "-atoms=3-6", "-fair"),
            ("--nagtime=3", "--forfeittime=9"),
        ),
    ),
    (
        "blackbox challenge alice bob —nagtime=3 -totaltime=60 size=8×8",
        Challenge(B, ("alice", "bob"), ("-size=8x8",), ("--nagtime=3", "--totaltime=60")),
    ),
    ("accept #12 alice secret", Accept(None, 12, ALICE)),
    ("blackbox board 12 13#2", Show(B, (BoardRef(12), BoardRef(13, 2)))),
    ("blackbox move 12 alice secret 'g, +b2'", MakeMove(B, 12, ALICE, "g,+b2")),
    ("blackbox move 12 alice secret g#7", MakeMove(B, 12, ALICE, "g", 7)),
    ("blackbox move 12 alice secret g,+b2 # 7", MakeMove(B, 12, ALICE, "g,+b2", 7)),
    ("blackbox move 12#7 alice secret g", MakeMove(B, 12, ALICE, "g", 7)),
    ("blackbox move 12 alice secret –a1,g", MakeMove(B, 12, ALICE, "-a1,g")),
    ("ｂｌａｃｋｂｏｘ move 12 alice secret ＋ｂ２", MakeMove(B, 12, ALICE, "+b2")),
    ("blackbox move 12 alice “secret” g", MakeMove(B, 12, ALICE, "g")),
    ('"blackbox move 12 alice secret g"', MakeMove(B, 12, ALICE, "g")),
    ("blackbox show 12#7 #13 13", Show(B, (BoardRef(12, 7), BoardRef(13)))),
    ("blackbox show alice Bob next", Show(B, (), ("alice", "bob"), "next")),
    ("all show alice active", Show(None, (), ("alice",), "active")),
    (
        "blackbox showas alice secret 12 13#2",
        ShowAs(B, ALICE, (BoardRef(12), BoardRef(13, 2)), "active"),
    ),
    ("games alice bob inactive", Games(None, ("alice", "bob"), "inactive")),
    ("all show alice next", Show(None, (), ("alice",), "next")),
    (
        "change address alice secret <Al@Example.ORG>",
        ChangeAddress(ALICE, ("Al@example.org",)),
    ),
    ("seek alice secret 2 -size=8x8", Seek(None, ALICE, 2, ("-size=8x8",))),
    ("blackbox seek alice secret -atoms 5", Seek(B, ALICE, None, ("-atoms=5",))),
    ("blackbox seek alice secret off", Seek(B, ALICE, off=True)),
    (
        "queue 12 alice secret g, +b2 if a=# or #: c; d else j#7",
        Queue(None, 12, ALICE, "g, +b2 if a=# or #: c; d else j#7"),
    ),
    ("blackbox submit 12 alice secret g#7", Submit(B, 12, ALICE, "g", 7)),
    ("blackbox ratings", Ratings(B)),
    ("history", History(None)),
    # Userid and board are swapped, and no other meaning is possible.
    ("move alice 12#7 secret g", MakeMove(None, 12, ALICE, "g", 7)),
    ("blackbox resign alice #12 secret", Resign(B, 12, ALICE)),
    # Quotes as they are typed in Germany and France.
    ("blackbox move 12 „alice“ ‚secret‘ »g«", MakeMove(B, 12, ALICE, "g")),
    ("blackbox move 12 « alice » « secret » « g, +b2 »", MakeMove(B, 12, ALICE, "g,+b2")),
    ("« blackbox move 12 alice secret g »", MakeMove(B, 12, ALICE, "g")),
]


@rows(("subject", "command"), FORMS, ids=[form for form, _ in FORMS])
def test_every_form_is_understood(subject, command):
    assert meaning_of(subject) == command


@rows(
    "front",
    [
        "Re: ",
        "RE: Re: ",
        "Fwd: ",
        "AW: ",
        "WG: ",
        "SV: ",
        "RE[2]: ",
        "Re (3): ",
        "[pbm] ",
        "Re: [pbm] Aw: ",
        "re:",
        "Fw : ",
        "\u200bRe\xa0: ",
        "Re： ",
        "Subject: ",
    ],
)
def test_prefixes_of_mail_programs_are_dropped(front):
    assert meaning_of(front + "blackbox show 12") == Show(B, (BoardRef(12),))


@rows(
    ("subject", "echo"),
    [
        ("blackbox mvoe 12 alice secret g, +b2", "blackbox move 12 alice *** g, +b2"),
        ("move 12 alice mine secret g", "move 12 alice *** *** ***"),
        ("move 12 alice secret g , +b2 # 7", "move 12 alice *** g , +b2 # 7"),
        ("signup secret alice@example.org", "signup *** ***"),
        ("move 12 alice 'mine secret g", "move 12 alice *** *** ***"),
        ("blackbox move x alice secret g", "blackbox move *** *** *** ***"),
        ("signup alice secret a@b.org", "signup alice *** a@b.org"),
        ("forgot alice secret", "forgot alice ***"),
        ("blackbox frobnicate 12 alice secret", "blackbox frobnicate ..."),
        ("blackbox move 12 alice g,+b2", "blackbox move 12 *** ***"),
        ("prefs alice secret format=text", "prefs alice *** format=text"),
        ("prefs alice secret tz=secret", "prefs alice *** ***"),
        ("away alice secret until 24 Dec", "away alice *** until 24 Dec"),
        ("queue 12 alice secret g if #: c", "queue 12 alice *** g if #: c"),
        ("seek alice secret 2 -fair", "seek alice *** 2 -fair"),
        ("blackbox solve 12 alice secret", "blackbox solve 12 alice ***"),
    ],
)
def test_the_echo_repeats_what_was_read_but_no_secret(subject, echo):
    (line,) = read_new_mail(subject, "", GAMES).lines
    assert line.echo == echo


@rows("row", ROWS, ids=[row.name for row in ROWS])
def test_a_row_s_example_is_that_command(row):
    if row.command is None:
        return
    if Place.LINE in row.places:
        (line,) = read_new_mail(row.example, "", GAMES).lines
    else:
        (line,) = read_reply_to(Answered.QUESTION, row.example, GAMES).lines
    assert type(line.meaning) is type(row.build(Arguments("blackbox")))
    assert line.echo.startswith(row.example.split(" PASSWORD", maxsplit=1)[0].split(" NEW")[0])


def test_every_command_has_its_row():
    built = {type(row.build(Arguments("blackbox"))) for row in ROWS if row.command}
    assert built - {Yes} == {
        value
        for module in (accounts, events, ladder, looking, playing, starting)
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Command)
        and value.__module__ == module.__name__
    }


WORDS = st.one_of(
    st.sampled_from(
        [name for row in ROWS for name in (*row.names, *row.synonyms)]
        + ["blackbox", "all", "12", "12#7", "alice", "bob", "-size=8x8", "--nagtime", "next", "#"]
        + ["412: g", "#12 5", "until", "friday", "a=b", "off", "undo", "« x »", "if #: c"]
        + ["“a b”", "'", '"', "-", ",", ">", "-- ", "Re:", "[x]", "a@b", "\u200b", "change"]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=12).map("\n".join)


@given(
    subject=st.one_of(TEXTS, st.text()),
    body=st.one_of(TEXTS, st.text()),
    answered=st.sampled_from([None, *Answered]),
)
@example(subject="all", body="", answered=None)
@example(subject="all xyz", body="all", answered=Answered.DIGEST)
def test_any_line_is_read(subject, body, answered):
    def read():
        if answered is None:
            return read_new_mail(subject, body, GAMES)
        return read_reply_to(answered, body, GAMES)

    reading = read()
    assert reading.lines
    assert len(reading.words) <= 4000
    assert all("\n" not in line.echo for line in reading.lines)
    again = read()
    assert [line.echo for line in again.lines] == [line.echo for line in reading.lines]
