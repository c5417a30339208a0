"""Passwords: in no letter, no log line, no page, and not in what the operator is shown."""

from __future__ import annotations

import http.client
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import Indoors, Posted, address_of, indoors
from running import start

from pbmserv.log import TextFormatter
from pbmserv.service.boards import moves
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.handler import Handlers
from pbmserv.service.mails import mail_service
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.kept_mails import KeptMails

pytestmark = pytest.mark.slow

RIGHT = "Tiger-Lily-77"
WRONG = "Peter-Pan-88"
NEW = "Never-Land-99"
SECRET = (RIGHT, WRONG, NEW)
SIGNED = Signature("olga", "mended")
ALICE, BOB = map(address_of, ("alice", "bob"))

# Right and wrong commands, and what people write when they do not know how to say it.
SUBJECTS = (
    f"signup alice {NEW}",
    f"signup alice {NEW} not-an-address",
    f"signup {NEW}",
    f"signup al,ice {NEW}",
    f"add me please {NEW}",
    f"blackbox move 1 alice {RIGHT}",
    f"blackbox move alice {RIGHT} g",
    f"blackbox move 1 {RIGHT} g",
    f"blackbox move 1 alice {RIGHT} zz",
    f"blackbox move 1 alice {WRONG} g",
    f"blackbox move 1 alice{RIGHT} g",
    f"blackbox move 99 alice {RIGHT} g",
    f"chess move 1 alice {RIGHT} e4",
    f"blackbox mvoe 1 alice {RIGHT} g",
    f"blackbox frobnicate 1 alice {RIGHT} g",
    f"move 1 alice {RIGHT} g",
    f"Re: Fwd: [games] blackbox move 1 alice {RIGHT} ?",
    f"blackbox chat 1 alice {RIGHT} hello there",
    f"blackbox resign 1 alice {RIGHT} please",
    f"blackbox resign 1 alice {WRONG}",
    f"blackbox accept 1 alice {RIGHT} now",
    f"blackbox show 1 alice {RIGHT}",
    f"blackbox showas alice {RIGHT} 99",
    f"blackbox showas alice {WRONG}",
    f"showas {RIGHT}",
    f"change password alice {RIGHT} ab",
    f"change password alice {RIGHT} {NEW} and more",
    f"change password alice {WRONG} {NEW}",
    f"change pasword alice {RIGHT} {NEW}",
    f"password {NEW}",
    f"message alice {RIGHT} nobody",
    f"message alice {RIGHT}",
    f"message {RIGHT} bob",
    f"prefs alice {RIGHT} format=text",
    f"signoff alice {RIGHT}",
    f"export alice {RIGHT}",
    f"away alice {RIGHT} until tomorrow",
    f"forgot alice {RIGHT}",
    f"alice {RIGHT}",
    RIGHT,
    f"blackbox challenge alice bob --password={RIGHT}",
)

NEEDLESS = (
    "blackbox challenge alice {} bob",
    "blackbox challenge alice {}",
    "blackbox solo alice {}",
    "blackbox solo alice {} -size=4x4",
    "blackbox solo alice -size=4x4 {}",
    "solo {} alice",
    "blackbox replay 1 alice {}",
    "blackbox replay alice {}",
    "blackbox replay 1 {}",
    "blackbox record 1 alice {}",
    "blackbox record alice {}",
    "blackbox report 1 alice {}",
    "blackbox show 1 alice {} now",
    "blackbox show alice {}",
    "blackbox preview 1 alice {} +b2",
    "blackbox preview alice {} +b2",
)
"""Commands that need no password: which word is one, only the service can tell."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as opened:
        for userid in ("alice", "bob"):
            opened.send(address_of(userid), f"signup {userid} {RIGHT}")
        opened.send(ALICE, "blackbox challenge alice bob")
        opened.send(ALICE, f"blackbox move 1 alice {RIGHT} a1,b2,c3,d4")
        yield opened


@pytest.fixture(autouse=True)
def everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="pbmserv")


def spoken_in(text: str) -> list[str]:
    return [secret for secret in SECRET if secret.lower() in text.lower()]


def log_lines(caplog: pytest.LogCaptureFixture) -> str:
    """Return all log lines as the log shows them."""
    return "\n".join(map(TextFormatter().format, caplog.records))


def check(letters: list[Posted], subject: str) -> None:
    assert letters, subject
    for letter in letters:
        for shown in (letter.subject, letter.text, letter.html, letter.raw.decode("ascii")):
            assert not spoken_in(shown), (subject, shown)


def test_no_answer_repeats_a_password(server: Indoors, caplog: pytest.LogCaptureFixture) -> None:
    needless = [form.format(word) for form in NEEDLESS for word in (RIGHT, WRONG)]
    for subject in (*SUBJECTS, *needless[::2]):
        check(server.send(ALICE, subject), subject)
    subjects = (*SUBJECTS, *needless)
    for first in range(0, len(subjects), 20):
        lines = "\nlist\n".join(subjects[first : first + 20])
        check(server.send(ALICE, "multiple", f"{lines}\n"), lines)
    assert not spoken_in(log_lines(caplog))


def test_no_answer_repeats_the_password_of_somebody_who_has_left(server: Indoors) -> None:
    (question,) = server.send(ALICE, f"signoff alice {RIGHT}")
    server.reply(question, "yes")
    for subject in (
        f"liar challenge alice {RIGHT} bob bob",
        f"blackbox challenge alice {RIGHT} nobody bob -race",
        f"games alice {RIGHT}",
        f"history alice {RIGHT}",
    ):
        check(server.send(ALICE, subject), subject)


def test_no_letter_repeats_a_password_that_was_quoted_or_written_into_a_reply(
    server: Indoors, caplog: pytest.LogCaptureFixture
) -> None:
    (reset,) = server.send(ALICE, "forgot alice")
    for body in (NEW, f"my new password is {NEW}", f"password {NEW} {NEW}x", f"passwort: {NEW}"):
        check(server.reply(reset, body), body)
    (board,) = server.send(ALICE, f"blackbox showas alice {RIGHT} 1")
    for body in (
        f"blackbox move 1 alice {RIGHT} g",
        f"move 1 alice {RIGHT} zz",
        f"chat\nHello!\n\nOn Monday alice wrote:\n> blackbox move 1 alice {RIGHT} g\n",
        f"show\n\n-----Original Message-----\nSubject: blackbox move 1 alice {RIGHT} g\n",
        f"password {RIGHT} {NEW}",
        f"change password alice {RIGHT} {NEW}",
    ):
        check(server.reply(board, body), body)
    check(server.reply(board, "show", f"Re: blackbox move 1 alice {RIGHT} zz"), "its subject")
    assert not spoken_in(log_lines(caplog))


def test_a_mail_that_was_kept_shows_the_operator_no_password(
    server: Indoors, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError(f"a library says: not {RIGHT}")

    monkeypatch.setattr(moves, "read_move", broken)
    mails = (
        (f"blackbox move 1 alice {RIGHT} g", ""),
        ("multiple", f"signup me {NEW}\nblackbox move 1 alice {RIGHT} g\nmove alice {WRONG}\n"),
        (f"=?utf-8?q?blackbox_move_1_alice_{RIGHT.replace('-', '=2D')}_g?=", ""),
    )
    for subject, body in mails:
        check(server.send(ALICE, subject, body), subject)

    def again(number: int, post: IncomingMail) -> bool:
        return server.server.play_stage.retry(number, post)

    read = server.server.parser.parse
    kept_mails = KeptMails(server.server.database, read, again, server.operators)
    kept = kept_mails.list()
    assert len(kept) == len(mails)
    for mail in kept:
        shown = kept_mails.show(mail.id)
        assert shown is not None
        shown_words = "\n".join(
            (mail.subject, mail.error, shown, kept_mails.retry(mail.id, SIGNED))
        )
        assert not spoken_in(shown_words), shown_words
    assert not spoken_in(log_lines(caplog))


def test_a_mail_that_cannot_be_read_shows_the_operator_none_of_its_text(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("cannot read this")

    monkeypatch.setattr("pbmserv.service.mails.incoming.read_mail", broken)
    server.send(ALICE, f"blackbox move 1 alice {RIGHT} g", f"signup bob {NEW}")
    read = server.server.parser.parse
    kept_mails = KeptMails(server.server.database, read, lambda *_: False, server.operators)
    (kept,) = kept_mails.list()
    shown = kept_mails.show(kept.id)
    assert shown is not None
    assert f"From: {ALICE}" in shown
    assert "cannot read this" in shown
    assert not spoken_in(kept.subject + kept.error + shown)


def test_no_page_shows_a_password(tmp_path: Path) -> None:
    with start(tmp_path) as server:
        server.send(ALICE, f"signup alice {RIGHT}")
        (link,) = (w for w in server.letter(ALICE).text.split() if "/confirm/" in w)
        path = "/confirm/" + link.rpartition("/")[2]
        client = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
        for method, at in (("GET", "/"), ("GET", path), ("POST", path), ("GET", path)):
            client.request(method, at)
            page = client.getresponse().read().decode()
            assert "alice" in page or at == "/"
            assert not spoken_in(page)
        client.close()


def test_no_secret_stands_in_a_repr(server: Indoors) -> None:
    """A debugger's or a traceback's view of what is at hand on the way of a mail."""
    seen: list[str] = []
    original = mail_service.run_commands

    def watched(context: CommandContext, handlers: Handlers) -> object:
        seen.extend(
            (repr(context.submission), repr(context.services), repr(context.effects.positions))
        )
        return original(context, handlers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mail_service, "run_commands", watched)
        for subject in SUBJECTS[::4]:
            server.send(ALICE, subject)
    assert len(seen) >= 3 * len(SUBJECTS[::4])
    for shown in seen:
        assert not spoken_in(shown), shown
