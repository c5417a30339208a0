"""Every reader of a stranger's text takes a time that is linear in its length.

Each reader gets texts that repeat each of many pieces, alone or behind beginnings that make the
reader look closer. A new reader needs a line in `SCANNERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest
from examples import DEEP
from growth import SHORTER, patience, steepness
from own_domain import HOUSE

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.consent import says_yes
from pbmserv.commands.grammar.courtesies import is_praise
from pbmserv.commands.grammar.dates import first_and_last_day
from pbmserv.commands.grammar.words import LONGEST_LINE
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import clean_subject, read_message, read_new_mail
from pbmserv.commands.reading.quoted_lines import Quoted, bare
from pbmserv.config.display import blank_passwords
from pbmserv.engine.plans import read_plan
from pbmserv.engine.record import read_record
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import MailError, PlayerError
from pbmserv.games.blackbox.game import GAME
from pbmserv.inbound.attached import attached_text
from pbmserv.inbound.auth.dkim import addresses_in, tags_of
from pbmserv.inbound.auth.results import own_statements
from pbmserv.inbound.body import read_body
from pbmserv.inbound.dsn import reported_failures
from pbmserv.inbound.flowed import unflow
from pbmserv.inbound.from_field import one_mailbox
from pbmserv.inbound.headers import content_type, read_headers, readable_value
from pbmserv.inbound.html import read_html
from pbmserv.inbound.message import read_mail, wire_refusal
from pbmserv.inbound.parts import octets_of, split_parts
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.inbound.robots import is_role
from pbmserv.inbound.source import source_of
from pbmserv.inbound.text import clean, decode
from pbmserv.mail.bounce_codes import judge, of_refusal, status_in
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.key_ring import KeyRing, blank_tokens
from pbmserv.mail.own_tokens import lines_with_tokens
from pbmserv.outbound.log_lines import loggable_reply
from pbmserv.views.filters import definitions, said, sentence

pytestmark = pytest.mark.slow

LENGTHS = {2_000: 0.003, 16_000: 0.012} if DEEP else {2_000: 0.003}
"""Lengths of the texts, each with the processor time below which growth is not measured. Many
readers look at 2,000 characters at most."""

_GAMES = {"blackbox": "Blackbox"}
_RING = KeyRing({1: b"1" * 32})


def _board() -> object:
    state = GAME.setup(2, GAME.options((), 2), None)
    for seat, atoms in ((0, "A1,B2,C3,D4"), (1, "A1,B2,C3,D4")):
        state = GAME.apply(state, Seat(seat), Move(atoms), None).state
    return GAME.view(state, Seat(0))


VIEW = _board()

PIECES = (
    *(" ", "\n", "\t", "\xa0", "a", "1", "é", "\u0301", "\U0001f600", "\u200b", "\0"),
    *("'", '"', "'a ", '"a ', "a='", "\u201c", "\xab ", ", ", ",", ";", ":", ": ", "#", "=", "=\n"),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "<",
        ">",
        "<a",
        "<a ",
        "</",
        "<!--",
        "&",
        "&a",
        "-",
        "--\n",
        "*",
        "|",
    ),
    *("\\", "/", "%", "@", "+", "+a1,", ".", "a.", "a@", "a@b ", "!", "?", "_", "~", "^"),
    *("a ", "a\n", "1 ", "1\n", "1:", "1. ", "> ", ">\n", "> a\nb\n", "\n\n", "a\n\n", "  a\n"),
    *("On ", "On 1 a@b wrote:\n", "From: a\n", "re: ", "[a] ", "=?", "=?a?q?b?= ", "=41", "if ("),
    *("blackbox ", "move ", "help\n", "12: g\n", "password ", "and ", "to ", "-a=1 ", "5.1.1 "),
)
"""Repeated in texts for every reader."""


@dataclass(frozen=True)
class Scanner:
    """A reader of text.

    Attributes:
        read: reads a text.
        fronts: beginnings of texts for which it does more than for others.
        pieces: more of what is repeated.
        longest: length of the longest text that it is given.
    """

    read: Callable[[str], object]
    fronts: Sequence[str] = ()
    pieces: Sequence[str] = ()
    longest: int = 1 << 20


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _mail(text: str, sender: str = "a@players.example") -> Envelope:
    return Envelope(sender, "pbmserv@games.example", _octets(text))


def _whole(text: str) -> object:
    return read_mail(_mail(text), HOUSE)


def _body(kind: str, encoding: str = "8bit") -> Callable[[str], object]:
    headers = {"content-type": [kind], "content-transfer-encoding": [encoding]}
    return lambda text: read_body(headers, _octets(text))


def _command(front: str) -> Callable[[str], object]:
    return lambda text: read_new_mail(front + text.replace("\n", " "), "", _GAMES)


def _body_of(subject: str) -> Callable[[str], object]:
    return lambda text: read_new_mail(subject, text, _GAMES)


def _reply_to(answered: Answered) -> Callable[[str], object]:
    return lambda text: read_reply_to(answered, text, _GAMES)


_QUOTED = Quoted(["Board 12: your turn. The ray that you fired at port 5 was absorbed at b2."])

SCANNERS: Mapping[str, Scanner] = {
    "octets on the wire": Scanner(lambda text: wire_refusal(text.encode("utf-8", "replace"))),
    "header fields": Scanner(
        lambda text: read_headers(_octets(text)),
        ("Subject: ", "From "),
        ("\n ", "A: b\n", "A:\n b\n"),
    ),
    "encoded words": Scanner(
        readable_value, ("=?utf-8?q?",), ("=?utf-8?b?", "=?utf-8?q?=C3?= ", "?=")
    ),
    "content types": Scanner(
        content_type, ("text/plain; ",), ("; a", "; a=b", '; a="', "; a*0*=%aa", '";', ";a*")
    ),
    "mailboxes": Scanner(
        one_mailbox, ("a <", '"', "("), ('" "', "a.b", "((", "()", "<>", "\\(", '\\"')
    ),
    "addresses of roles": Scanner(is_role),
    "recipients": Scanner(addresses_in, ('"', "a, "), ('\\"', '",', "a@b.example, ")),
    "signature tags": Scanner(tags_of, ("v=1; ",), ("a=b; ", "b= ", "; ")),
    "authentication results": Scanner(
        lambda text: own_statements("a", 1, _octets(text)),
        ("Received: x\nAuthentication-Results: a; ", "Authentication-Results: a; "),
        ("dkim=pass ", "dkim=pass header.d=a; ", "(", "Received: a\n", "spf=pass (a) "),
    ),
    "received fields": Scanner(
        lambda text: source_of(_mail(text), ()), ("Received: from ",), ("Received: from a (", "\n ")
    ),
    "parts": Scanner(
        lambda text: list(split_parts(_octets(text), "b")), ("--b\n",), ("--b\n", "--b", "--b--")
    ),
    "quoted-printable": Scanner(
        lambda text: octets_of({"content-transfer-encoding": ["quoted-printable"]}, _octets(text)),
        (),
        ("= \n", "=A", "= "),
    ),
    "base64": Scanner(
        lambda text: octets_of({"content-transfer-encoding": ["base64"]}, _octets(text)),
        (),
        ("a=",),
    ),
    "utf-7": Scanner(lambda text: decode(_octets(text), "utf-7"), (), ("+AG", "+-")),
    "iso-2022-jp": Scanner(
        lambda text: decode(_octets(text), "iso-2022-jp"), (), ("\x1b$B", "\x1b(B", "\x1b$Ba")
    ),
    "clean text": Scanner(clean, (), ("\u0301\u0323", "\u0100\u0301", "\r")),
    "flowed text": Scanner(
        partial(unflow, delsp=True), (), ("a \n", ">a \n", "> a \n>> b \n", "-- \n")
    ),
    "html": Scanner(
        read_html,
        ("<p>", "<table>"),
        (
            "<div>",
            "<b>x",
            "<p>",
            "<ul><li>",
            "<table><tr><td>",
            "<blockquote>",
            "&amp;",
            "&#",
            "<a b ",
            "<a b='",
            "<style>",
            "<script>",
            "<p style='border-left:",
            "<br>",
            "<![CDATA[",
            "<?a",
            "<x:y>",
        ),
    ),
    "a mail of plain text": Scanner(_body("text/plain"), ("-----BEGIN PGP MESSAGE-----",)),
    "a mail of parts": Scanner(
        _body("multipart/mixed; boundary=b"),
        ("--b\n\n",),
        ("--b\n\n", "--b\nA: b\n\nx\n", "--b\nContent-Type: multipart/mixed; boundary=b\n\n"),
    ),
    "a whole mail": Scanner(
        _whole,
        ("From: a@b.example\nSubject: ", "From: a@b.example\n\n", "From: "),
        ("To: a@b.example\n", "X: y\n", "<a@b> ", "Received: from a\n"),
    ),
    "attached files": Scanner(
        lambda text: attached_text(_octets(text), "a"),
        ("Content-Type: multipart/mixed; boundary=b\n\n",),
        ("--b\nContent-Disposition: attachment; filename=x\n\na\n",),
    ),
    "reports": Scanner(
        lambda text: reported_failures(_mail(text, "")),
        (
            (
                "Content-Type: multipart/report; boundary=b\n\n--b\n"
                "Content-Type: message/delivery-status\n\n"
            ),
            "Subject: Undelivered\n\n",
        ),
        (
            "Action: failed\n",
            "Final-Recipient: rfc822; a@b\n",
            "\n\nAction: failed\n",
            "550 5.1.1 a@b\n",
            "<a@b>: ",
            "--b\n\n",
            "a@b.example\n",
        ),
    ),
    "bounce codes": Scanner(
        lambda text: (status_in(text), judge("5.0.0", text), of_refusal(text, "a@b.example")),
        ("550 ",),
        ("exceeda", "exceed a ", "user ", "5.1.1", "mailbox ", "550 5.1.1 "),
        longest=LONGEST_LINE,
    ),
    "words of relays": Scanner(loggable_reply),
    "new text of replies": Scanner(
        read_new_text,
        ("hi\n", "-----BEGIN PGP SIGNED MESSAGE-----\n"),
        (
            "On 3 Mar 2014 10:00 a@b.example wrote:\n> ",
            "From: a\nTo: b\n",
            "a@b\n",
            "Reply above this ",
            "Sent from my ",
            "a:\n",
            "2014-03-03 10:00\n",
            "*a*\n",
            "- a\n",
            "thanks\n",
            "+a1 ",
            "hi\n",
        ),
    ),
    "subjects": Scanner(
        clean_subject, (), ("Re: ", "AW[2]: ", "[a]", "re   ", "**spam", "* "), longest=LONGEST_LINE
    ),
    "plain words": Scanner(
        lambda text: (
            plain_words.as_command(text, {"go": "Go", "chess": "Chess"}),
            says_yes(text),
            is_praise(text),
            plain_words.meaningful_words(text),
        ),
        ("i am away until ", "thanks", "how can i "),
        ("yes ", "thanks ", "please ", "no ", "off ", "how "),
        longest=LONGEST_LINE,
    ),
    "dates": Scanner(
        first_and_last_day,
        ("from ", "1 jan "),
        ("- ", " to ", "1 jan ", ", to"),
        longest=LONGEST_LINE,
    ),
    "a command": Scanner(
        _command(""),
        (
            "blackbox move 12 alice secret ",
            "signup ",
            "blackbox challenge alice bob ",
            "message alice x ",
            "prefs alice x ",
            "blackbox queue 12 alice secret ",
            "away alice x ",
            "help ",
        ),
        ("bob ", "'a' ", "tz=a ", "-x ", "a,", "digest=daily 8 "),
        longest=LONGEST_LINE,
    ),
    "a body of commands": Scanner(
        _body_of("multiple"),
        ("blackbox move 12 alice secret g\n", "message alice secret bob\n"),
        (
            "blackbox show 1\n",
            "x\n",
            "# a\n",
            "end\n",
            "help move\n  rules\n",
            "blackbox 'a 'a 'a\n",
        ),
    ),
    "a body below a subject": Scanner(
        _body_of("blackbox move 12 alice secret g"), ("\n",), ("accept 12\n",)
    ),
    "a body below no command": Scanner(_body_of("hello"), ("\n",), ("accept 12\n", "hi alice\n")),
    "a reply": Scanner(
        _reply_to(Answered.PLAIN_LETTER),
        ("g\n", "chat ", "accept\n", "yes ", "move "),
        ("a1,", "a1, ", "1. a\n", "chat a\n", "move a\n", "resign\n", "hello "),
    ),
    "an answer to a digest": Scanner(
        _reply_to(Answered.DIGEST),
        ("12: g\n", "12 "),
        ("12: g\n", "accept 12\n", "12 g\n", "board ", "12 - ", "12: g\n  h\n"),
    ),
    "a reply to a message": Scanner(
        lambda text: read_message(text, _GAMES), ("chat ", "multiple\n")
    ),
    "quoted lines": Scanner(
        lambda text: _QUOTED.quoted_places(text.split("\n")),
        ("Board 12: your turn. The ray\n",),
        ("port 5 was absorbed ", "b2 ", "b2, ", "b2 and ", "| - "),
    ),
    "markup": Scanner(
        bare, ("<style>",), ("<style>", "<style", "</style", "<title></title>", "<b>")
    ),
    "tokens": Scanner(blank_tokens, (), ("+a234567abcdefghijklmnopqrst", "%2B")),
    "tokens in words for others": Scanner(
        lambda text: lines_with_tokens(_RING, text.split("\n")),
        (),
        (
            "ae",
            "aea",
            "%61",
            "%25",
            "%2561",
            "&amp;",
            "&#97;",
            "=61",
            "\\u0061",
            "%2561=61&#97; ",
            "YWVh",
            "WVdWaA==",
            "\uff41",
            "ai&amp;%25=3D\\x41",
        ),
    ),
    "moves": Scanner(
        partial(GAME.parse, VIEW),
        ("g ", "fire ", "+a1 ", "hi, "),
        (
            "+a1,",
            "a1-z26,",
            "!a,",
            "mark a1 ",
            "one ",
            "port ",
            "fire port a ",
            "b2 - ",
            "not ",
            "a ",
            "?,",
        ),
        longest=LONGEST_LINE,
    ),
    "options": Scanner(
        lambda text: GAME.options(tuple(text.split()), 2),
        ("-size=", "-atoms=", "-id="),
        ("-size=8x8 ", "1x", "w8", "w8h8m4", "8x8/4:", "a1,", "0" * 20),
        longest=LONGEST_LINE,
    ),
    "transcripts": Scanner(
        lambda text: GAME.load(text, lambda _: ("-id=8x8:A1",), lambda _: None),
        (
            "pbmserv transcript 1\ngame: blackbox\nbox: 8x8:A1\nmoves:\n",
            "pbmserv transcript 1\n",
            "pbmserv transcript 1\nbox: board 1",
        ),
        ("box:\n", "box: \n", "box: board ", "1. a\n", "game: blackbox\n", "undone:\n"),
    ),
    "saved games": Scanner(
        lambda text: GAME.load(text, lambda _: (), lambda _: None),
        (
            "SAVEFILE:41:Simon Tatham's Portable Puzzle Collection\n",
            (
                "SAVEFILE:41:Simon Tatham's Portable Puzzle Collection\n"
                "VERSION :1:1\nGAME    :9:Black Box\n"
            ),
        ),
        ("MOVE    :2:F1\n", "MOVE    :1:", "A       :1:a\n", "STATEPOS:1:1\n", "MOVE    :9"),
    ),
    "records": Scanner(
        read_record,
        ("pbmserv record 1\n", "pbmserv record 1\ngame: blackbox\nrules: 1\nplayers: a, b\n\n"),
        ("1. a: b\n", "game: a\n", "1. a (free): b\n", "a: b, "),
    ),
    "plans": Scanner(
        read_plan,
        ("g ", "if a: "),
        ("if a: b else ", "(", "a; ", "a=# and ", "not ", ": "),
        longest=LONGEST_LINE,
    ),
    "words in letters": Scanner(
        lambda text: (said(text), sentence.__wrapped__(text), definitions(text)),
        (),
        ("a  b\n", "  a   b\n", "a-"),
        longest=LONGEST_LINE,
    ),
    "settings in logs": Scanner(blank_passwords, ("postgresql://",), ("a:b@", "password=", "://")),
}


@pytest.mark.parametrize("name", SCANNERS)
def test_no_reader_grows_faster_than_its_text(name: str) -> None:
    """A usual run puts every fourth of the common pieces behind one of the beginnings, a deep run
    each of them behind each beginning."""
    scanner = SCANNERS[name]
    length = max(length for length in LENGTHS if length <= scanner.longest)
    fronts = ("", *scanner.fronts)

    def ask(text: str) -> None:
        with suppress(MailError, PlayerError, ValueError):
            scanner.read(text)

    def repeated(front: str, piece: str, length: int) -> str:
        return front + piece * (length // len(piece))

    ask("a")  # what is loaded with the first text of its kind
    with patience():
        for number, front in enumerate(fronts):
            common = PIECES if DEEP else PIECES[number :: 4 * len(fronts)]
            for piece in dict.fromkeys((*common, *scanner.pieces)):
                shorter = partial(repeated, front, piece, length // SHORTER)
                growth = steepness(ask, repeated(front, piece, length), shorter, LENGTHS[length])
                assert not growth, (front, growth)
