"""Mails that the SMTP door accepts and refuses, and commands that do not break it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from rows import rows
from running import Running, start
from smtp_client import Wire, mail
from sqlalchemy import select

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.smtpd.dialog import Dialog
from pbmserv.smtpd.listener import LARGEST_MAIL
from pbmserv.store.tables.mail import inbox

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all that happens before the database; SQLite does for that."""
    folder: Path = tmp_path_factory.mktemp("embedded")
    with start(folder, unused_days="1") as running:
        yield running


def received(server: Running) -> list[tuple[str, str, str, str]]:
    """(sender, recipient, state, error) of every mail that was taken."""
    server.carry_out()
    with server.server.database.reading.connect() as connection:
        rows = connection.execute(
            select(inbox.c.sender, inbox.c.recipient, inbox.c.state, inbox.c.error).order_by(
                inbox.c.id
            )
        )
        return [tuple(row) for row in rows]


@rows(
    "recipient",
    [
        "someone@elsewhere.example",
        "someone@games.example",
        "pbmserv+aeaqcaiaaaaaaaaaaaaaaaaaaa@games.example",  # of the right form, forged
        "pbmserv%elsewhere.example@games.example",
        "pbmserv@games.example@elsewhere.example",
        '"pbmserv@games.example"@elsewhere.example',
        "elsewhere.example!pbmserv",
        "pbmserv@[127.0.0.1]",
        # RFC 5321 appendix C: a route may be ignored; what counts is where it ends.
        "@games.example:someone@elsewhere.example",
        "@games.example,@elsewhere.example:someone@elsewhere.example",
        '"someone@elsewhere.example"@games.example',
        '"pbmserv@games.example:25"@elsewhere.example',
        "pbmserv@games.example.elsewhere.example",
        "pbmserv@games.example.",
        "pbmserv@sub.games.example",
        "pbmserv@[IPv6:::1]",
        "elsewhere.example!someone@games.example",
        "someone%elsewhere.example@games.example",
        "pbmserv+@games.example",
        "pbmserv",
    ],
)
def test_this_is_never_a_relay(embedded: Running, recipient: str) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        assert wire.ask(f"RCPT TO:<{recipient}>").startswith(("550", "553", "501"))
        assert wire.ask("DATA").startswith("503")


def test_a_genuine_reply_address_is_known_and_a_changed_one_is_not(embedded: Running) -> None:
    address = embedded.server.mail_domain.address_of(ReplyAddress(Purpose.PLAYER, 1))
    local, _, domain = address.partition("@")
    changed = f"{local[:-3]}{'a' if local[-3] != 'a' else 'b'}{local[-2:]}@{domain}"
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        assert wire.ask(f"RCPT TO:<{address.upper()}>").startswith("250")
        assert wire.ask(f"RCPT TO:<{changed}>").startswith("550")


def test_five_recipients_and_no_more(embedded: Running) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        for _ in range(5):
            assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("452")
        assert wire.ask("RSET").startswith("250")
        assert wire.ask("NOOP").startswith("250")


def test_a_mail_that_is_too_large_is_refused_before_and_after(embedded: Running) -> None:
    before = received(embedded)
    with Wire(embedded.port) as wire:
        assert f"SIZE {LARGEST_MAIL}" in wire.ask("EHLO players.example")
        assert wire.ask(f"MAIL FROM:<{ALICE}> SIZE={LARGEST_MAIL + 1}").startswith("552")
        line = b"x" * 78 + b"\r\n"
        raw = mail(ALICE, "help") + line * (LARGEST_MAIL // len(line) + 1)
        assert wire.mail(ALICE, OURS, raw).startswith("552")
        # The session goes on, and a mail just below the limit is taken.
        body = mail(ALICE, "help") + b"\r\n" + line * ((LARGEST_MAIL - 1000) // len(line))
        assert wire.mail(ALICE, OURS, body).startswith("250")
    assert len(received(embedded)) == len(before) + 1


@rows(
    ("raw", "reply"),
    [
        (b"From: a@players.example\nSubject: help\r\n\r\nhello", "550"),
        (b"From: a@players.example\rBcc: b@players.example\r\nSubject: help\r\n\r\nx", "550"),
        (b"From: a@players.example\r\nSubject: help\r\n\r\nbare\rreturn", "550"),
        (b"From: a@players.example\r\nSubject: help\r\n\r\n" + b"y" * 999, "5"),
        (b"From: a@players.example\r\nSubject: help\r\n\r\n" + b"y" * 70_000, "550"),
        (b"From: a@players.example\r\nX-Long: " + b"y" * 991 + b"\r\n\r\nhello", "5"),
        (b"From: a@players.example\r\nFrom: b@players.example\r\n\r\nhelp", "554"),
        (b"From: a@players.example, b@players.example\r\n\r\nhelp", "554"),
        (b"Subject: help\r\n\r\nno sender at all", "554"),
        (b"From: a@players.example\r\nnot a header\r\n\r\nhelp", "554"),
        (b"", "554"),
    ],
)
def test_octets_that_no_parser_shall_see_are_refused(
    embedded: Running, raw: bytes, reply: str
) -> None:
    before = received(embedded)
    with Wire(embedded.port) as wire:
        answer = wire.mail(ALICE, OURS, raw)
        assert answer.startswith(reply), answer
        assert "Error:" not in answer.replace("500 Error", "")
        assert wire.ask("NOOP").startswith("250")
    assert received(embedded) == before


@rows(
    "end",
    [
        b"\n.\n",
        b"\n.\r\n",
        b"\r\n.\n",
        b"\r.\r",
        b"\r\n.\r",
        b"\r.\r\n",
        b"\n\n.\r\n",
        b"\r\n\x00.\r\n",
        b"\r\n\x00.\x00\r\n",
        b"\x00.\r\n",
        b"\r\n.\x00\r\n",
        b"\r\n.\r\r\n",
        b"\r\n.\n\r\n",
        b"\r\r\n.\n\r",
        b"\n\r.\n\r",
        b"\r\n.\x0b\r\n",
        b"\r\n.\xc2\x85",
        "\u2028.\u2028".encode(),
        b"\r\n. \r\n",
        b"\r\n .\r\n",
    ],
)
def test_no_odd_end_of_data_hides_a_second_mail(embedded: Running, end: bytes) -> None:
    """SMTP smuggling: everything up to CRLF . CRLF is one mail, and that one is refused."""
    smuggled = (
        f"MAIL FROM:<admin@games.example>\r\nRCPT TO:<{OURS}>\r\nDATA\r\n"
        "From: admin@players.example\r\nSubject: signup smuggled secret\r\n\r\nhello"
    ).encode()
    before = received(embedded)
    with Wire(embedded.port) as wire:
        answer = wire.mail(ALICE, OURS, mail(ALICE, "help", "hello") + end + smuggled)
        assert wire.ask("NOOP") == "250 OK"  # one reply for all of it
    rest = end.replace(b"\r\n", b"")
    if b"\r" not in rest and b"\n" not in rest:  # just lines like any others
        assert answer.startswith("250")
    else:
        assert answer.startswith("550 5.6.0"), answer
        assert received(embedded) == before
    assert not embedded.letters("admin@players.example")


@examples(20)
@given(st.lists(st.sampled_from([b"\r", b"\n", b".", b"\0", b" "]), max_size=9).map(b"".join))
def test_nothing_between_two_mails_makes_them_two(embedded: Running, between: bytes) -> None:
    assume(b"\r\n.\r\n" not in b"x" + between)
    smuggled = f"MAIL FROM:<a@b.example>\r\nRCPT TO:<{OURS}>\r\nDATA\r\n".encode()
    before = len(received(embedded))
    with Wire(embedded.port) as wire:
        # Hypothesis may try an example again, which must not be a copy of the mail before.
        raw = mail(f"{before}.{between.hex()}@players.example", "help", "x")
        first = wire.mail(ALICE, OURS, raw + between + smuggled + raw.replace(b"help", b"list"))
        assert first[:3] in {"250", "550", "554"}
        assert wire.ask("NOOP") == "250 OK"
    assert len(received(embedded)) - before == first.startswith("250")


def test_dots_are_doubled_on_the_way_and_only_there(embedded: Running) -> None:
    raw = mail("dots@players.example", "nonsense", "..\r\n...two\r\n..\r\nend")
    with Wire(embedded.port) as wire:
        assert wire.mail("dots@players.example", OURS, raw).startswith("250")
    embedded.carry_out()
    with embedded.server.database.reading.connect() as connection:
        (stored,) = connection.execute(
            select(inbox.c.raw).where(inbox.c.sender == "dots@players.example")
        ).one()
    assert stored.endswith(b"\r\n\r\n.\r\n..two\r\n.\r\nend\r\n")


@rows("recipient", ["postmaster@games.example", "PostMaster", "POSTMASTER@GAMES.EXAMPLE"])
def test_mail_to_the_postmaster_waits_for_a_person(embedded: Running, recipient: str) -> None:
    raw = mail(ALICE, f"something is wrong with {recipient}", "list")
    embedded.letters()
    with Wire(embedded.port) as wire:
        assert wire.mail(ALICE, recipient, raw).startswith("250")
    assert received(embedded)[-1] == (ALICE, recipient.lower(), "kept", "for the postmaster")
    assert embedded.letters() == []


@rows("recipient", [OURS, "postmaster@games.example"])
def test_addresses_in_other_alphabets_and_eight_bit_bodies(
    embedded: Running, recipient: str
) -> None:
    raw = (
        b"From: =?utf-8?q?J=C3=B6rg?= <joerg@players.example>\r\nSubject: Gr\xc3\xbc\xc3\x9fe "
        + recipient.encode()
        + b"\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        b"h\xc3\xa9lp\r\n\xff\xfe"
    )
    with Wire(embedded.port) as wire:
        assert "SMTPUTF8" in wire.ask("EHLO players.example")
        assert wire.ask("MAIL FROM:<jörg@players.example> BODY=8BITMIME SMTPUTF8").startswith("250")
        assert wire.ask(f"RCPT TO:<{recipient}>").startswith("250")
        assert wire.ask("RCPT TO:<spieler-ä@games.example>").startswith("550")
        assert wire.ask("DATA").startswith("354")
        assert wire.ask(raw + b"\r\n.\r\n").startswith("250")
    assert received(embedded)[-1][0] == "jörg@players.example"


ODD_SENDERS = (
    b"MAIL FROM:<\xff\xfe@players.example>",
    b"MAIL FROM:<a\x00b@players.example>",
    b"MAIL FROM:<a\x07b@players.example>",
    b"MAIL FROM:<" + b"a" * 300 + b"@players.example>",
    b"MAIL FROM:<" + "ü".encode() * 130 + b"@players.example>",
    b"MAIL FROM:<",
    b"MAIL FROM:<>>",
    b"MAIL FROM:<((((((((((((((((",
    b"MAIL FROM:<(\\",
    b'MAIL FROM:<"',
    b"MAIL FROM:<@>",
    b"MAIL FROM:<a@b> SIZE=\xc2\xb2",
    b"MAIL FROM:",
    b"MAIL FROM",
    b"MAIL",
    b"RCPT TO:<",
    b"VRFY \xff",
)


def test_senders_that_cannot_be_written_down(server: Running) -> None:
    """Either refused for good, or a mail from them is taken like any other: never 451."""
    with Wire(server.port) as wire:
        for command in ODD_SENDERS:
            answer = wire.ask(command + b"\r\n")
            assert answer.startswith(("250", "252", "5")), (command, answer)
            if answer.startswith("250"):
                assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
                assert wire.ask("DATA").startswith("354")
                raw = mail(ALICE, "help", Message_ID=f"<{len(command)}@players.example>")
                assert wire.ask(raw + b"\r\n.\r\n").startswith("250"), command
            assert wire.ask("RSET") == "250 OK"


def test_garbage_is_answered_with_patience_that_has_an_end(embedded: Running) -> None:
    chance = random.Random(7)
    for _ in range(15):
        with (
            Wire(embedded.port) as wire,
            contextlib.suppress(BrokenPipeError, ConnectionResetError),
        ):
            for _ in range(20):
                junk = chance.randbytes(chance.randrange(1, 3000)).replace(b"\n", b"?")
                answer = wire.ask(junk + b"\r\n")
                if not answer:
                    break
                assert answer[:1] == "5", answer
    with Wire(embedded.port) as wire:
        assert wire.ask("HELP").startswith("250")
        assert wire.ask("VRFY root").startswith("252")
        assert wire.ask("EXPN root").startswith("502")
        assert wire.ask("AUTH PLAIN AGEAYg==").startswith("5")
        assert wire.ask("QUIT").startswith("221")


def test_commands_out_of_order(embedded: Running) -> None:
    with Wire(embedded.port, hello="") as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("503")
        assert wire.ask("DATA").startswith("503")
        assert wire.ask("EHLO players.example").startswith("250")
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("503")
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("503")
        assert wire.ask("DATA").startswith("503")


def test_a_whole_session_in_one_packet(embedded: Running) -> None:
    first = mail("pipe@players.example", "help one")
    second = mail("pipe@players.example", "help two")
    with Wire(embedded.port, hello="") as wire:
        begin = f"MAIL FROM:<pipe@players.example>\r\nRCPT TO:<{OURS}>\r\nDATA\r\n".encode()
        wire.say(
            b"EHLO players.example\r\n"
            + begin
            + first
            + b"\r\n.\r\n"
            + begin
            + second
            + b"\r\n.\r\n"
            + b"QUIT\r\n"
        )
        codes = [wire.answer()[:3] for _ in range(10)]
    assert codes == ["250", "250", "250", "354", "250", "250", "250", "354", "250", "221"]
    assert len(embedded.letters("pipe@players.example")) == 2


def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(embedded: Running) -> None:
    before = received(embedded)
    for leave in ("close", "half"):
        wire = Wire(embedded.port)
        wire.begin(ALICE, OURS)
        wire.say(mail(ALICE, "help", "half a mail"))
        if leave == "half":
            wire.half_close()
            assert wire.answer() == ""  # no reply: it was never finished
        wire.close()
    with Wire(embedded.port) as wire:  # the server goes on
        assert wire.ask("NOOP") == "250 OK"
    assert received(embedded) == before


def test_a_client_that_has_said_all_still_gets_its_replies(embedded: Running) -> None:
    """``… | nc -N``: everything at once, and then the end of the stream."""
    begin = f"EHLO a\r\nMAIL FROM:<half@players.example>\r\nRCPT TO:<{OURS}>\r\nDATA\r\n".encode()
    before = len(received(embedded))
    for number, (last, codes) in enumerate(
        [(b"", []), (b"QUIT\r\n", ["221"]), (b"QU", []), (b"NOOP\r\nNOOP\n", ["250", "500", "421"])]
    ):
        octets = mail("half@players.example", "help", Message_ID=f"<half.{number}@players.example>")
        with Wire(embedded.port, hello="") as wire:
            wire.say(begin + octets + b"\r\n.\r\n" + last)
            wire.half_close()
            replies = []
            while reply := wire.answer():
                replies.append(reply[:3])
        assert replies == ["250", "250", "250", "354", "250", *codes]
    assert len(received(embedded)) == before + 4
    with Wire(embedded.port, hello="") as wire:
        wire.say(begin + b"Subject: half of it\r\n.\r")
        wire.half_close()
        assert wire.rest().endswith(b"<CR><LF>.<CR><LF>\r\n")  # the 354, and then nothing
    assert len(received(embedded)) == before + 4


@rows(
    "path",
    [
        *('<"\\', '<"a@b.example>', '<a"b@c.example>', '<"a"b@c.example>', '<"">', '<""@>'),
        *("<a@b@c>", "<@>", "<a@>", "<@b.example>", "<", ">", "< >", "<<a@b.example>>"),
        *("<a@b.example", "a@b.example>", "<a@.example>", "<a@b..example>", "<a@b.example.>"),
        *("<a b@c.example>", "<a(x)@b.example>", "<a @b.example>", "<a@ b.example>"),
        *("<a@b.example;c@d.example>", "<a,b@c.example>", "<a@b!c>", "<a\\b@c.example>"),
        *(
            "<a@[]>",
            "<a@[>",
            "<a@[x y]>",
            "<a@b.example>SIZE=3",
            "<@b.example:>",
            "<a\x80@b.example>",
        ),
    ],
)
def test_paths_that_are_none_are_no_senders(embedded: Running, path: str) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:{path}")[:3] in {"501", "553"}
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("503")


@rows(
    ("path", "sender"),
    [
        ("<>", ""),
        ("<> SIZE=100", ""),
        ("<a@b.example> SIZE=100 BODY=8BITMIME", "a@b.example"),
        (" <a@b.example>", "a@b.example"),
        ("a@b.example", "a@b.example"),
        ("<root>", "root"),
        ("<a..b.@c.example>", "a..b.@c.example"),
        ('<"a b\\"@"@c.example>', '"a b\\"@"@c.example'),
        ('<"a.b"@c.example>', "a.b@c.example"),
        ("<@x.example,@y.example:a@b.example>", "a@b.example"),
        ("<a@[127.0.0.1]>", "a@[127.0.0.1]"),
        ("<a@[IPv6:::1]>", "a@[ipv6:::1]"),
        ("<grün@münchen.example> SMTPUTF8", "grün@münchen.example"),
        ("<a_b+c=d@e_f.example>", "a_b+c=d@e_f.example"),
    ],
)
def test_paths_that_are_some_are_kept_as_they_are(
    embedded: Running, path: str, sender: str
) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:{path}").startswith("250")
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
        assert wire.ask("DATA").startswith("354")
        raw = mail("path@players.example", "help", Message_ID=f"<{path.encode().hex()}@b.example>")
        assert wire.ask(raw + b"\r\n.\r\n").startswith("250")
    assert received(embedded)[-1][0] == sender


LONG = "x" * 200
HARMLESS = [
    ("AUTH=<>", ""),
    ("AUTH=alice+40players.example", ""),
    ("auth=<> size=100 body=8bitmime", ""),
    ("RET=HDRS ENVID=QQ314159", "NOTIFY=SUCCESS,DELAY ORCPT=rfc822;pbmserv@games.example"),
    ("RET=FULL", "NOTIFY=NEVER"),
    ("SIZE=100 AUTH=<> SMTPUTF8 RET=HDRS", "ORCPT=utf-8;spieler-ä@games.example"),
    ("MT-PRIORITY=-3", "notify=failure orcpt=rfc822;pbmserv+token=3@games.example"),
    (f"AUTH={LONG}{LONG} ENVID={LONG[:100]} RET=HDRS", f"ORCPT=rfc822;{LONG}{LONG} NOTIFY=DELAY"),
]
UNKNOWN = [
    *("NOTIFY=NEVER", "ORCPT=rfc822;a@b.example", "RET=ALL", "RET", "AUTH", "AUTH="),
    *("HOLDFOR=60", "HOLDUNTIL=2030-01-01T00:00:00Z", "BY=120;R", "REQUIRETLS", "SOLICIT=x"),
    *("BODY=BINARYMIME", "MT-PRIORITY=high", "XTEST=1", "SIZE=x", "AUTH=<> XTEST=1", "MTRK=x"),
]


@rows(("of_mail", "of_rcpt"), HARMLESS)
def test_parameters_that_ask_nothing_of_us_are_taken(
    embedded: Running, of_mail: str, of_rcpt: str
) -> None:
    with Wire(embedded.port) as wire:
        for sender in (ALICE, ""):
            assert wire.ask(f"MAIL FROM:<{sender}> {of_mail}").startswith("250")
            assert wire.ask(f"RCPT TO:<{OURS}> {of_rcpt}").startswith("250")
            assert wire.ask("DATA").startswith("354")
            raw = mail(ALICE, "help", Message_ID=f"<{hash((of_mail, sender))}@b.example>")
            assert wire.ask(raw + b"\r\n.\r\n").startswith("250")
            assert received(embedded)[-1][:2] == (sender, OURS)


@rows("parameter", UNKNOWN)
def test_parameters_that_ask_for_more_are_refused(embedded: Running, parameter: str) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}> {parameter}")[:3] in {"501", "555"}
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        for wrong in ("RET=HDRS", "AUTH=<>", "NOTIFY=NEVER,DELAY", "NOTIFY=ALWAYS", "ORCPT=a@b"):
            assert wire.ask(f"RCPT TO:<{OURS}> {wrong}")[:3] in {"501", "555"}
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")


def test_nothing_is_offered_that_is_ignored(embedded: Running) -> None:
    with Wire(embedded.port) as wire:
        offered = wire.ask("EHLO players.example").upper()
        assert not [word for word in ("DSN", "AUTH", "MT-PRIORITY") if word in offered]
        for command in ("XCLIENT ADDR=127.0.0.1", "XFORWARD NAME=a", "AUTH PLAIN AA=="):
            assert wire.ask(command).startswith("50"), command
        assert wire.ask("HELO players.example").startswith("250")
        assert wire.ask(f"MAIL FROM:<{ALICE}> AUTH=<>").startswith("501")


def test_a_line_without_an_end_ends_the_session(embedded: Running) -> None:
    """No more than a mail is kept in memory, and no more than two are read."""
    with Wire(embedded.port) as wire:
        wire.begin(ALICE, OURS)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(64):
                wire.say(b"x" * 65_535 + b"\n")  # a bare LF ends no line in SMTP
        replies = [wire.answer() for _ in range(3)]
    assert [reply[:3] for reply in replies] == ["552", "421", ""], replies
    with Wire(embedded.port) as wire:
        wire.say(b"x" * 200_000)
        replies = [wire.answer() for _ in range(3)]
    assert [reply[:3] for reply in replies] == ["500", "421", ""], replies
    with Wire(embedded.port) as wire:
        assert wire.ask("NOOP") == "250 OK"


class OurFault(LookupError):
    """Raised where our own code is taken for broken."""


async def breaks(
    door: Dialog,
    server: object,
    session: object,
    envelope: object,
    argument: object = None,
    more: object = None,
) -> str:
    raise OurFault("inner workings")


def breaks_at_once(door: Dialog, *arguments: object) -> str:
    raise OurFault("inner workings")


@pytest.mark.parametrize(
    "method", ["handle_HELO", "handle_EHLO", "begin_mail", "add_recipient", "store_mail"]
)
def test_a_fault_at_any_step_is_temporary_and_tells_nothing(
    embedded: Running, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    by_aiosmtpd = method.startswith("handle_")
    monkeypatch.setattr(Dialog, method, breaks if by_aiosmtpd else breaks_at_once)
    raw = mail(ALICE, "list", Message_ID=f"<{method}@fault.example>").decode()
    with Wire(embedded.port, hello="") as wire:
        answers = [
            wire.ask(words)
            for words in (
                "HELO players.example" if method == "handle_HELO" else "EHLO players.example",
                "VRFY root",
                f"MAIL FROM:<{ALICE}>",
                f"RCPT TO:<{OURS}>",
                "DATA",
            )
        ]
        if answers[-1].startswith("354"):
            answers.append(wire.ask(f"{raw}\r\n."))
        assert wire.ask("NOOP").startswith("250")
    broken = [answer for answer in answers if answer.startswith("451")]
    assert broken
    assert set(broken) == {"451 4.3.0 cannot take mail just now, please try again later"}
    assert not any("OurFault" in answer or "inner" in answer for answer in answers)
