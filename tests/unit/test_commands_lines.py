"""One command in the subject: all forms of the language, mistakes, and refusals."""

# ruff: noqa: RUF001 - typographic characters are what is tested

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.reserved_userids import is_reserved
from pbmserv.commands.table import accounts, events, ladder, looking, playing, starting
from pbmserv.commands.table.accounts import (
    Away,
    Back,
    ChangeAddress,
    ChangePassword,
    Delete,
    Export,
    Forgot,
    Prefs,
    SignOff,
    Signup,
)
from pbmserv.commands.table.catalogue import BY_NAME, BY_SYNONYM, ROWS, suggested_command
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
from pbmserv.commands.table.model import BoardRef, Command, Credentials, Secret, Yes
from pbmserv.commands.table.playing import (
    Broadcast,
    Chat,
    Check,
    ConfirmMove,
    MakeMove,
    Message,
    Preview,
    Queue,
    Resign,
    Submit,
    Undo,
)
from pbmserv.commands.table.row_types import Arguments, Place, Scope
from pbmserv.commands.table.starting import Accept, Challenge, Reject, Rematch, Seek
from pbmserv.errors import Misread, PlayerError

GAMES = frozenset({"blackbox"})
ALICE = Credentials("alice", Secret("secret"))
B = "blackbox"


def meaning_of(subject, body="", games=GAMES):
    (line,) = read_new_mail(subject, body, games).lines
    return line.meaning


def refusal(subject, games=GAMES):
    meaning = meaning_of(subject, games=games)
    assert isinstance(meaning, Misread), meaning
    return meaning.refusal


FORMS = [
    ("help", Help()),
    ("help move", Help(("move",))),
    ("help change password", Help(("change password",))),
    ("help blackbox move", Help(("move",))),
    ("help blackbox rules", Help((B,))),
    ("blackbox help", Help((B,))),
    ("blackbox help rules", Help((B,))),
    ("blackbox help challenge", Help(("challenge",))),
    ("blackbox", Help((B,))),
    ("", Help()),
    ("list", ListGames()),
    ("list blackbox", ListGames((B,))),
    ("blackbox list", ListGames((B,))),
    ("signup alice secret", Signup("alice", Secret("secret"))),
    ("signup Alice, secret,", Signup("alice", Secret("secret,"))),
    (
        "signup Alice_1-x secret <Alice@Example.ORG>, mailto:al@localhost",
        Signup("alice_1-x", Secret("secret"), ("Alice@example.org", "al@localhost")),
    ),
    ("add alice 'my secret'", Signup("alice", Secret("my secret"))),
    ("blackbox signup alice secret", Signup("alice", Secret("secret"))),
    ("change password alice secret newer", ChangePassword(ALICE, Secret("newer"))),
    ("password alice secret newer", ChangePassword(ALICE, Secret("newer"))),
    ("Change Password Alice secret Newer", ChangePassword(ALICE, Secret("Newer"))),
    ("forgot alice", Forgot("alice")),
    ("forgot password alice", Forgot("alice")),
    ("blackbox challenge userid1 userid2", Challenge(B, ("userid1", "userid2"))),
    ("challenge alice bob", Challenge(B, ("alice", "bob"))),
    ("blackbox challenge alice, bob", Challenge(B, ("alice", "bob"))),
    ("blackbox challenge alice house-hard", Challenge(B, ("alice", "house-hard"))),
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
        "blackbox challenge -size 8x8 alice bob --nagtime 3",
        Challenge(B, ("alice", "bob"), ("-size=8x8",), ("--nagtime=3",)),
    ),
    (
        "blackbox challenge alice bob —nagtime=3 -totaltime=60 size=8×8",
        Challenge(B, ("alice", "bob"), ("-size=8x8",), ("--nagtime=3", "--totaltime=60")),
    ),
    ("blackbox challenge a1 b2 -seed=MiXed", Challenge(B, ("a1", "b2"), ("-seed=MiXed",))),
    ("blackbox accept 12 alice secret", Accept(B, 12, ALICE)),
    ("accept #12 alice secret", Accept(None, 12, ALICE)),
    ("blackbox reject 12 alice secret", Reject(B, 12, ALICE)),
    ("blackbox resign 12 alice secret", Resign(B, 12, ALICE)),
    ("blackbox move 12 alice secret resign", Resign(B, 12, ALICE)),
    ("blackbox move 12 alice secret g,+b2", MakeMove(B, 12, ALICE, "g,+b2")),
    ("move 12 alice secret g", MakeMove(None, 12, ALICE, "g")),
    ("blackbox move board 12 alice secret g", MakeMove(B, 12, ALICE, "g")),
    ("blackbox board 12 alice secret g,+b2", MakeMove(B, 12, ALICE, "g,+b2")),
    ("board 12 alice secret resign", Resign(None, 12, ALICE)),
    ("blackbox board 12 alice secret b3,d3,8h,13n", MakeMove(B, 12, ALICE, "b3,d3,8h,13n")),
    ("board 12 alice secret a1, b2, c3", MakeMove(None, 12, ALICE, "a1,b2,c3")),
    ("blackbox board 12 13#2", Show(B, (BoardRef(12), BoardRef(13, 2)))),
    ("blackbox move 12 alice secret g, +b2 , /a1", MakeMove(B, 12, ALICE, "g,+b2,/a1")),
    ("blackbox move 12 alice secret 'g, +b2'", MakeMove(B, 12, ALICE, "g,+b2")),
    ("blackbox move 12 alice secret g#7", MakeMove(B, 12, ALICE, "g", 7)),
    ("blackbox move 12 alice secret g,+b2 # 7", MakeMove(B, 12, ALICE, "g,+b2", 7)),
    ("blackbox move 12#7 alice secret g", MakeMove(B, 12, ALICE, "g", 7)),
    ("blackbox move 12 alice secret -a1", MakeMove(B, 12, ALICE, "-a1")),
    ("blackbox move 12 alice secret –a1,g", MakeMove(B, 12, ALICE, "-a1,g")),
    ("blackbox move 12 alice - g", MakeMove(B, 12, Credentials("alice", Secret("-")), "g")),
    ("ｂｌａｃｋｂｏｘ move 12 alice secret ＋ｂ２", MakeMove(B, 12, ALICE, "+b2")),
    ("blackbox move 12 alice “secret” g", MakeMove(B, 12, ALICE, "g")),
    ('"blackbox move 12 alice secret g"', MakeMove(B, 12, ALICE, "g")),
    ("blackbox chat 12 alice secret", Chat(B, 12, ALICE)),
    ("message alice secret bob", Message(ALICE, ("bob",))),
    ("message alice secret bob, Carol", Message(ALICE, ("bob", "carol"))),
    ("blackbox show 12", Show(B, (BoardRef(12),))),
    ("blackbox show 12#7 #13 13", Show(B, (BoardRef(12, 7), BoardRef(13)))),
    ("blackbox show alice Bob next", Show(B, (), ("alice", "bob"), "next")),
    ("all show alice active", Show(None, (), ("alice",), "active")),
    ("show board 12", Show(None, (BoardRef(12),))),
    ("blackbox board 12", Show(B, (BoardRef(12),))),
    ("board 12", Show(None, (BoardRef(12),))),
    ("blackbox showas alice secret", ShowAs(B, ALICE, (), "active")),
    (
        "blackbox showas alice secret 12 13#2",
        ShowAs(B, ALICE, (BoardRef(12), BoardRef(13, 2)), "active"),
    ),
    ("blackbox propose 12 alice secret", MakeMove(B, 12, ALICE, "propose")),
    ("blackbox pass 12 alice secret", MakeMove(B, 12, ALICE, "pass")),
    ("blackbox show as alice secret all", ShowAs(B, ALICE, (), "all")),
    ("blackbox games alice", Games(B, ("alice",))),
    ("games alice bob inactive", Games(None, ("alice", "bob"), "inactive")),
    ("all show alice", Show(None, (), ("alice",))),
    ("all show alice next", Show(None, (), ("alice",), "next")),
    (
        "change address alice secret <Al@Example.ORG>",
        ChangeAddress(ALICE, ("Al@example.org",)),
    ),
    ("change address alice secret a@b.org c@d.org", ChangeAddress(ALICE, ("a@b.org", "c@d.org"))),
    ("prefs alice secret", Prefs(ALICE)),
    (
        "prefs alice secret Digest=daily@07:30 tz=Europe/Berlin, format = text",
        Prefs(ALICE, (("digest", "daily@07:30"), ("tz", "Europe/Berlin"), ("format", "text"))),
    ),
    ("prefs alice secret format spoken", Prefs(ALICE, (("format", "spoken"),))),
    ("prefs alice secret remind=2d,6h", Prefs(ALICE, (("remind", "2d,6h"),))),
    ("prefs alice secret colour=red", Prefs(ALICE, (("colour", "red"),))),
    ("away alice secret until 24 Dec", Away(ALICE, "24 Dec")),
    ("away alice secret until 24.12.", Away(ALICE, "24.12.")),
    ("away alice secret until the 1st of march, 2027", Away(ALICE, "the 1st of march, 2027")),
    ("away alice secret in 5 days", Away(ALICE, "in 5 days")),
    ("away alice secret next Friday", Away(ALICE, "next Friday")),
    ("back alice secret", Back(ALICE)),
    ("signoff alice secret", SignOff(ALICE)),
    ("sign off alice secret", SignOff(ALICE)),
    ("delete alice secret", Delete(ALICE)),
    ("export alice secret", Export(ALICE)),
    ("broadcast alice secret", Broadcast(ALICE)),
    ("blackbox seek alice secret", Seek(B, ALICE)),
    ("seek alice secret 2 -size=8x8", Seek(B, ALICE, 2, ("-size=8x8",))),
    ("blackbox seek alice secret -atoms 5", Seek(B, ALICE, None, ("-atoms=5",))),
    ("blackbox seek alice secret off", Seek(B, ALICE, off=True)),
    ("blackbox rematch 12 alice secret", Rematch(B, 12, ALICE)),
    ("blackbox queue 12 alice secret g", Queue(B, 12, ALICE, "g")),
    ("blackbox queue 12 alice secret -", Queue(B, 12, ALICE, "-")),
    (
        "queue 12 alice secret g, +b2 if a=# or #: c; d else j#7",
        Queue(None, 12, ALICE, "g, +b2 if a=# or #: c; d else j#7"),
    ),
    ("blackbox submit 12 alice secret g, +b2", Submit(B, 12, ALICE, "g,+b2")),
    ("blackbox submit 12 alice secret g#7", Submit(B, 12, ALICE, "g", 7)),
    ("blackbox confirm 12 alice secret", ConfirmMove(B, 12, ALICE)),
    ("blackbox preview 12 g,+b2", Preview(B, 12, "g,+b2")),
    ("preview 12 +b2, /a1", Preview(None, 12, "+b2,/a1")),
    ("blackbox undo 12 alice secret", Undo(B, 12, ALICE)),
    ("move 12 alice secret undo", Undo(None, 12, ALICE)),
    ("move 12 alice secret pass", MakeMove(None, 12, ALICE, "pass")),
    ("move 12 alice secret propose", MakeMove(None, 12, ALICE, "propose")),
    ("blackbox check 12 alice secret", Check(B, 12, ALICE)),
    ("blackbox standings", Standings(B)),
    ("standings", Standings(None)),
    ("blackbox ratings", Ratings(B)),
    ("blackbox ratings alice, Bob", Ratings(B, ("alice", "bob"))),
    ("history", History(None)),
    ("blackbox history alice", History(B, ("alice",))),
    ("blackbox record 12", Record(B, 12)),
    ("subscribe 12 alice secret", Follow(12, ALICE, "all")),
    ("blackbox subscribe 12 alice secret", Follow(12, ALICE, "all")),
    ("notify 12 alice secret", Follow(12, ALICE, "end")),
    ("unsubscribe 12 alice secret", Follow(12, ALICE, "off")),
    # Userid and board are swapped, and no other meaning is possible.
    ("blackbox move alice 12 secret g", MakeMove(B, 12, ALICE, "g")),
    ("move alice 12#7 secret g", MakeMove(None, 12, ALICE, "g", 7)),
    ("blackbox resign alice #12 secret", Resign(B, 12, ALICE)),
    ("queue alice 12 secret -", Queue(None, 12, ALICE, "-")),
    # Quotes as they are typed in Germany and France.
    ("blackbox move 12 „alice“ ‚secret‘ »g«", MakeMove(B, 12, ALICE, "g")),
    ("blackbox move 12 « alice » « secret » « g, +b2 »", MakeMove(B, 12, ALICE, "g,+b2")),
    ("« blackbox move 12 alice secret g »", MakeMove(B, 12, ALICE, "g")),
]


@rows(("subject", "command"), FORMS, ids=[form for form, _ in FORMS])
def test_every_form_is_understood(subject, command):
    assert meaning_of(subject) == command


@rows("subject", [form for form, _ in FORMS if form and '"' not in form])
def test_capitals_do_not_matter_in_the_words_of_the_language(subject):
    first, _, rest = subject.partition(" ")
    assert meaning_of(f"{first.upper()} {rest}") == meaning_of(subject)


@rows(
    "move",
    [
        "b3,d3,8h,13n",
        "3b,3d,h8,n13",
        "1",
        "a",
        "14",
        "+1a",
        "/a1",
        "/14m",
        "?",
        "-a1",
        "g,-a1",
        "+a1,/b2,+m13,+7g,/k3",
        "+a1,+d5,+8k,+3f,?",
    ],
)
def test_the_moves_of_the_original_help_text_arrive_unchanged(move):
    assert meaning_of(f"blackbox move 12 alice secret {move}") == MakeMove(B, 12, ALICE, move)


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
    ("subject", "command"),
    [
        ("mvoe 12 alice secret g", MakeMove(None, 12, ALICE, "g")),
        ("blackbox cheeck 12 alice secret", Check(B, 12, ALICE)),
        ("blackbx show 12", Show(B, (BoardRef(12),))),
        ("Black Box move 12 alice secret g", MakeMove(B, 12, ALICE, "g")),
        ("blackbox: show 12", Show(B, (BoardRef(12),))),
        ("help!", Help()),
    ],
)
def test_common_slips_are_understood(subject, command):
    assert meaning_of(subject) == command


@rows(
    ("subject", "code"),
    [
        ("Hello, is anybody there?", "not-a-command"),
        ("frobnicate", "not-a-command"),
        ("blackbox frobnicate 12", "unknown-command"),
        ("challenges alice", "unknown-command"),
        ("change address", "missing-userid"),
        ("change address alice secret", "missing-address"),
        ("change address alice secret nowhere", "bad-address"),
        ("change everything", "unknown-change"),
        ("chess move 12 alice secret e4", "unknown-game"),
        ("chess challenge alice bob", "unknown-game"),
        ("list chess", "unknown-game"),
        ("blackbox solve alice secret", "missing-board"),
        ("redo", "missing-board"),
        ("blackbox solo", "missing-userid"),
        ("solo -size=8x8", "missing-userid"),
        ("blackbox replay 12", "missing-userid"),
        ("multiple", "no-commands"),
        ("blackbox move", "missing-board"),
        ("blackbox move alice secret g", "missing-board"),
        ("blackbox move 12", "missing-userid"),
        ("blackbox move 12 p@ss g", "missing-userid"),
        ("blackbox move 12 alice", "missing-password"),
        ("blackbox move 12 alice secret", "missing-move"),
        ("blackbox move 12 alice secret #7", "missing-move"),
        ("blackbox move 12 alice g,+b2", "no-password"),
        ("blackbox move 12 alice g", "no-password"),
        ("blackbox move 12 alice g, +b2", "no-password"),
        ("blackbox move 12 alice ?", "no-password"),
        ("blackbox move 12 alice b3,d3,8h,13n", "no-password"),
        ("blackbox move alice 12 g,+b2", "missing-board"),
        ("blackbox queue 12 alice g if #: c else j", "no-password"),
        ("blackbox queue 12 alice secret", "missing-plan"),
        ("blackbox queue 12 alice secret ''", "missing-plan"),
        ("blackbox submit 12 alice secret", "missing-move"),
        ("blackbox preview g", "missing-board"),
        ("blackbox preview 12", "missing-move"),
        ("blackbox resign 12 alice", "missing-password"),
        ("blackbox move alice 12", "missing-board"),
        ("prefs", "missing-userid"),
        ("prefs alice", "missing-password"),
        ("prefs alice format=text", "missing-password"),
        ("prefs format=text", "missing-userid"),
        ("prefs alice secret text", "bad-setting"),
        ("prefs alice my secret format=text", "bad-setting"),
        ("prefs alice secret format", "bad-setting"),
        ("prefs alice secret" + " tz=UTC" * 21, "too-many-settings"),
        ("away alice secret", "missing-date"),
        ("away alice secret until", "missing-date"),
        ("away alice until friday", "missing-password"),
        ("away alice secret until doomsday", "bad-date"),
        ("away alice my secret friday", "bad-date"),
        ("back alice", "missing-password"),
        ("back alice secret now", "too-many-words"),
        ("seek alice secret two", "bad-seats"),
        ("seek alice secret 9", "bad-seats"),
        ("seek alice secret 2 3", "bad-seats"),
        ("seek alice secret -", "bad-option"),
        ("blackbox ratings b!", "bad-userid"),
        ("blackbox history " + " ".join(f"p{i}" for i in range(21)), "too-many-shown"),
        ("blackbox record", "missing-board"),
        ("blackbox record 12 13", "too-many-words"),
        ("subscribe alice secret", "missing-board"),
        ("what 12 alice secret", "unknown-command"),
        ("what happened to you", "not-a-command"),
        ("prefz alice secret format=text", "unknown-command"),
        ("chess queue 12 alice secret g", "unknown-game"),
        ("blackbox move twelve alice secret g", "bad-board"),
        ("blackbox move 0 alice secret g", "bad-board"),
        ("blackbox move 1234567890 alice secret g", "bad-board"),
        ("blackbox move 12 al!ce secret g", "bad-userid"),
        ("blackbox resign 12 alice secret now please", "too-many-words"),
        ("blackbox chat 12 alice secret hello", "too-many-words"),
        ("forgot", "missing-userid"),
        ("forgot alice secret", "too-many-words"),
        ("signup", "missing-userid"),
        ("signup alice", "missing-password"),
        ("signup a secret", "bad-userid"),
        ("signup jürgen secret", "bad-userid"),
        ("signup abcdefghijklmnopqrstu secret", "bad-userid"),
        ("signup -alice secret", "dash-userid"),
        ("signup alice abc", "short-password"),
        ("signup alice -", "dash-password"),
        ("signup secret alice@example.org", "address-password"),
        ("signup alice " + "x" * 201, "long-password"),
        ("signup alice secret nowhere", "bad-address"),
        ("signup alice secret a@b@c", "bad-address"),
        ("signup alice secret " + " ".join(f"a{i}@b.org" for i in range(6)), "too-many-addresses"),
        ("change password alice", "missing-password"),
        ("change password alice secret", "missing-new-password"),
        ("change password alice secret new pass word", "too-many-words"),
        ("blackbox challenge", "missing-players"),
        ("blackbox challenge -size=8x8", "missing-players"),
        ("blackbox challenge alice", "one-player"),
        ("blackbox challenge alice Alice", "repeated-userid"),
        ("blackbox challenge alice b!", "bad-userid"),
        ("blackbox challenge " + " ".join(f"p{i}" for i in range(9)), "too-many-players"),
        ("blackbox challenge alice bob -", "bad-option"),
        ("blackbox challenge alice bob -8", "bad-option"),
        ("blackbox challenge alice bob -size=", "bad-option"),
        ("blackbox challenge alice bob --speed=3", "unknown-time"),
        ("blackbox challenge alice bob --nagtime=soon", "bad-time"),
        ("blackbox challenge alice bob --nagtime", "bad-time"),
        ("message alice secret", "missing-recipient"),
        ("message alice secret b!", "bad-userid"),
        ("message alice secret " + " ".join(f"p{i}" for i in range(9)), "too-many-recipients"),
        ("blackbox show", "missing-shown"),
        ("blackbox show next", "missing-shown"),
        ("blackbox show 12 alice secret", "boards-and-userids"),
        ("blackbox show al!", "bad-shown"),
        ("blackbox show " + " ".join(str(i) for i in range(1, 22)), "too-many-shown"),
        ("blackbox showas alice", "missing-password"),
        ("blackbox showas alice secret bob", "bad-board"),
        ("blackbox showas alice secret " + "1 2 " * 9 + "3 4 5", None),
        ("blackbox games b!", "bad-userid"),
        ("blackbox games " + " ".join(f"p{i}" for i in range(21)), "too-many-shown"),
        ("showas alice secret " + " ".join(str(i) for i in range(1, 22)), "too-many-shown"),
        ("blackbox move 12 alice secret " + "g," * 1000, "line-too-long"),
    ],
)
def test_each_unreadable_line_has_a_refusal_of_its_own(subject, code):
    meaning = meaning_of(subject)
    if code is None:
        assert not isinstance(meaning, PlayerError)
    else:
        assert isinstance(meaning, Misread)
        assert meaning.refusal.code == code


def test_a_challenge_that_names_no_game_means_the_first_of_several():
    games = ("blackbox", "null")
    assert meaning_of("challenge alice bob", games=games) == Challenge("blackbox", ("alice", "bob"))
    assert meaning_of("null challenge alice bob", games=games) == Challenge(
        "null", ("alice", "bob")
    )
    assert meaning_of("seek alice secret", games=games) == Seek("blackbox", ALICE)
    assert meaning_of("null seek alice secret", games=games) == Seek("null", ALICE)


@rows(
    ("word", "name"),
    [
        ("chalenge", "challenge"),
        ("shw", "show"),
        ("mvoe", "move"),
        ("resigm", "resign"),
        ("xyzzy", None),
        ("", None),
        ("ab", None),
        ("m" * 500, None),
        ("MOEV", "move"),
    ],
)
def test_the_nearest_command_is_named(word, name):
    assert suggested_command(word) == name


def test_an_unknown_word_is_answered_with_the_nearest_command():
    sentence = refusal("blackbox chalennge alice bob")
    assert sentence.part == "chalennge"
    assert sentence.values["suggestion"] == "challenge"
    assert sentence.example == "blackbox challenge USERID FRIEND"


@rows(
    ("subject", "sample"),
    [
        ("blackbox move 17 alice", "blackbox move 17 USERID PASSWORD MOVE"),
        ("blackbox move 17", "blackbox move 17 USERID PASSWORD MOVE"),
        ("move x carol secret g", "blackbox move BOARD USERID PASSWORD MOVE"),
        ("blackbox accept 17 carol my secret", "blackbox accept 17 USERID PASSWORD"),
        ("blackbox move 17 carol g,+b2", "blackbox move 17 USERID PASSWORD MOVE"),
        ("chess move 17 alice secret e4", "blackbox move 17 USERID PASSWORD MOVE"),
        ("queue 17 carol g", "blackbox queue 17 USERID PASSWORD PLAN"),
        ("away carol", "away USERID PASSWORD until DATE"),
        ("signup carol abc", "signup USERID PASSWORD"),
        ("change password carol older b", "change password USERID PASSWORD NEWPASSWORD"),
    ],
)
def test_the_example_keeps_what_was_right(subject, sample):
    assert refusal(subject).example == sample


@rows(
    ("subject", "echo"),
    [
        ("blackbox mvoe 12 alice secret g, +b2", "blackbox move 12 alice *** g, +b2"),
        ("move 12 alice 'my secret' g", "move 12 alice *** g"),
        ("move 12 alice mine secret g", "move 12 alice *** *** ***"),
        ("move 12 alice my secret g", "move 12 *** *** *** ***"),
        ("move 12 alice secret g , +b2 # 7", "move 12 alice *** g , +b2 # 7"),
        ("showas secret 12 next", "showas *** *** ***"),
        ("signup secret alice@example.org", "signup *** ***"),
        ("blackbox move 12 alice - g", "blackbox move 12 alice *** g"),
        ("move 12 alice 'mine secret g", "move 12 alice *** *** ***"),
        ("blackbox move 12 alice secret", "blackbox move 12 *** ***"),
        ("blackbox move x alice secret g", "blackbox move *** *** *** ***"),
        ("change password alice secret newer", "change password alice *** ***"),
        ("signup alice secret a@b.org", "signup alice *** a@b.org"),
        ("show 12 alice secret", "show 12 *** ***"),
        ("forgot alice secret", "forgot alice ***"),
        ("chess move 12 alice secret e4", "chess move ..."),
        ("blackbox frobnicate 12 alice secret", "blackbox frobnicate ..."),
        ("secret g", "..."),
        ("blackbox move 12 alice g,+b2", "blackbox move 12 *** ***"),
        ("blackbox move alice 12 secret g", "blackbox move 12 alice *** g"),
        ("prefs alice secret format=text", "prefs alice *** format=text"),
        ("prefs alice format=text", "prefs *** ***"),
        ("away alice secret until 24 Dec", "away alice *** until 24 Dec"),
        ("away alice my secret friday", "away *** *** *** ***"),
        ("queue 12 alice secret g if #: c", "queue 12 alice *** g if #: c"),
        ("queue 12 alice some secret g", "queue 12 alice *** *** ***"),
        ("seek alice secret 2 -fair", "seek alice *** 2 -fair"),
        ("preview 12 g,+b2", "preview 12 g,+b2"),
        ("blackbox solve 12 alice secret", "blackbox solve 12 alice ***"),
        ("", "(an empty mail)"),
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


def test_no_spelling_belongs_to_two_commands():
    lines = [name for row in ROWS if row.in_line for name in (*row.names, *row.synonyms)]
    assert len(lines) == len(set(lines))
    assert not set(BY_NAME) & set(BY_SYNONYM)
    assert all(is_reserved(name.replace(" ", ""), (), "") for name in BY_NAME)


def test_the_form_names_the_game_only_where_one_belongs():
    for row in ROWS:
        assert row.form("blackbox").startswith("blackbox ") == (row.scope is Scope.GAME)


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
