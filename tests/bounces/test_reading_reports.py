"""The meaning of bounces of real servers, and robustness against any bounce."""

from __future__ import annotations

from pathlib import Path

from rows import rows
from server_reports import REPORTS, ServerReport, multipart

from pbmserv.inbound.dsn import reported_failures
from pbmserv.mail.bounce_codes import LONGEST_DIAGNOSTIC, Verdict, judge, of_refusal, one_line
from pbmserv.mail.envelope import Envelope

HERE = Path(__file__).parent
ALICE = "alice@players.example"
OUR = "pbmserv+aeaqabcdefghijklmnopqrstuv@games.example"


def read(raw: bytes, sender: str = "") -> tuple:
    return reported_failures(Envelope(sender, OUR, raw))


@rows("report", REPORTS, ids=lambda report: report.name)
def test_reports_of_servers_have_the_meanings_listed(report: ServerReport) -> None:
    meaning = read(report.raw(ALICE, OUR))
    if report.verdict is None:
        assert meaning == ()
        return
    (failure,) = meaning
    assert (failure.verdict, failure.status) == (report.verdict, report.status)
    assert ALICE in failure.recipients
    assert report.says in failure.diagnostic


def test_the_returned_letter_is_not_read() -> None:
    inner = REPORTS[0].raw("bob@players.example", OUR)
    mail = b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=zz\r\n\r\n--zz\r\n"
    mail += b"Content-Type: text/plain\r\n\r\nSee below.\r\n--zz\r\n"
    mail += b"Content-Type: message/rfc822\r\n\r\n" + inner + b"\r\n--zz--\r\n"
    assert read(mail) == ()


def test_a_status_is_read_as_badly_as_servers_write_it() -> None:
    status = f"""Reporting-MTA: dns; mx

Final-Recipient: <{ALICE.upper()}>
Action: failed (permanently)
Status: 5.0.0 (undefined)
Diagnostic-Code: smtp; 550-said a server
of two lines
550 5.1.1 no such user
X-Odd


Final-Recipient: rfc822; bob@players.example
Status: 4.2.0

Final-Recipient: rfc822; carol@players.example
Status: 5.4.1
"""
    meaning = read(
        multipart("From: MAILER-DAEMON", "Sorry.", status).replace("\n", "\r\n").encode()
    )
    assert [(sorted(report.recipients), report.verdict, report.status) for report in meaning] == [
        ([ALICE], Verdict.HARD, "5.1.1"),
        (["carol@players.example"], Verdict.HARD, "5.4.1"),
    ]


@rows(
    ("status", "words", "verdict"),
    [
        ("5.1.1", "", Verdict.HARD),
        ("5.1.2", "", Verdict.HARD),
        ("5.1.8", "sender address rejected: domain not found", Verdict.REFUSED),
        ("5.2.1", "mailbox disabled", Verdict.HARD),
        ("5.2.1", "is receiving mail at a rate that prevents", Verdict.SOFT),
        ("5.2.2", "", Verdict.SOFT),
        ("4.2.2", "", Verdict.SOFT),
        ("5.3.0", "", Verdict.SOFT),
        ("5.4.6", "loop", Verdict.SOFT),
        ("5.5.0", "Requested action not taken: mailbox unavailable", Verdict.HARD),
        ("5.5.1", "sequence of commands", Verdict.REFUSED),
        ("5.6.0", "", Verdict.REFUSED),
        ("5.7.1", "no such user", Verdict.REFUSED),
        ("5.7.26", "unauthenticated mail", Verdict.REFUSED),
        ("5.0.0", "", Verdict.SOFT),
        ("5.0.0", "550 5.7.1 blocked", Verdict.REFUSED),
        ("5.0.0", "blocked by our list", Verdict.REFUSED),
        ("", "550 user unknown", Verdict.HARD),
        ("", "550 blocked, see our policy", Verdict.REFUSED),
        ("", "550", Verdict.SOFT),
        ("", "552", Verdict.SOFT),
        ("", "554 transaction failed", Verdict.REFUSED),
        ("", "450 try later", Verdict.SOFT),
        ("", "it came back", Verdict.SOFT),
        ("2.0.0", "ok", Verdict.REFUSED),
    ],
)
def test_verdicts(status: str, words: str, verdict: Verdict) -> None:
    assert judge(status, words) is verdict


@rows(
    ("error", "verdict"),
    [
        ("RCPT TO: 550 5.1.1 <alice@players.example>: no such user", Verdict.HARD),
        ("RCPT TO: 554 5.7.1 Relay access denied", Verdict.REFUSED),
        ("DATA: 550 5.1.1 no such user", Verdict.HARD),
        ("given up after 5 days: RCPT TO: 452 4.2.2 mailbox full", Verdict.SOFT),
        ("DATA: 554 blocked, no such user", None),
        ("DATA: 550 5.7.1 no", None),
        ("MAIL FROM: 550 5.1.1 no such sender", None),
        ("given up after 5 days: no connection to the relay: refused", None),
        ("the relay cannot carry this address (no SMTPUTF8)", None),
    ],
)
def test_a_relays_refusal_counts_the_same_way(error: str, verdict: Verdict | None) -> None:
    meaning = of_refusal(error, ALICE.title())
    assert (meaning.verdict if meaning else None) is verdict
    if meaning is not None:
        assert meaning.recipients == {ALICE}
        assert meaning.diagnostic in error


def diagnostics() -> list[tuple[set[Verdict], str, str]]:
    """Return verdicts, Status field and words of each row of the table."""
    table = []
    for line in (HERE / "diagnostics.txt").read_text().splitlines():
        if not line.startswith("#"):
            verdicts, _, status, words = (cell.strip() for cell in f"{line} ".split("| ", 3))
            table.append(({Verdict(verdict) for verdict in verdicts.split()}, status, words))
    return table


DIAGNOSTICS = diagnostics()
GUESSES = ["", "5.0.0", "5.1.0", "5.1.1", "5.1.2", "5.2.0", "5.3.0", "5.4.1", "5.5.0"]
"""Status fields of servers that had only the other server's words to go by."""


@rows(("verdicts", "status", "words"), DIAGNOSTICS)
def test_the_words_of_real_servers(verdicts: set[Verdict], status: str, words: str) -> None:
    assert judge(status, words) in verdicts


@rows(("verdicts", "status", "words"), [row for row in DIAGNOSTICS if Verdict.REFUSED in row[0]])
def test_no_status_makes_words_about_us_hard(
    verdicts: set[Verdict], status: str, words: str
) -> None:
    if Verdict.HARD not in verdicts:
        assert Verdict.HARD not in {judge(guess, words) for guess in (status, *GUESSES)}


@rows(("verdicts", "status", "words"), [row for row in DIAGNOSTICS if row[2][:1] in set("45")])
def test_the_relay_and_the_reports_are_judged_alike(
    verdicts: set[Verdict], status: str, words: str
) -> None:
    by_relay = of_refusal(f"RCPT TO: {words}", ALICE)
    status_part = (
        f"Final-Recipient: rfc822; {ALICE}\nAction: failed\nDiagnostic-Code: smtp; {words}"
    )
    report = multipart("From: MAILER-DAEMON", "Sorry.", status_part)
    (by_report,) = read(report.replace("\n", "\r\n").encode())
    assert by_relay is not None
    assert by_relay.verdict is by_report.verdict is judge("", words)


@rows(("verdicts", "status", "words"), [row for row in DIAGNOSTICS if row[2][:1] in set("45")])
def test_the_reason_in_the_text_counts_where_the_status_part_has_none(
    verdicts: set[Verdict], status: str, words: str
) -> None:
    notice = f"bob@players.example: 550 5.1.1 gone\n{ALICE}: {words}\n\nBelow is a copy."
    groups = [
        f"Final-Recipient: rfc822; {a}\nAction: failed" for a in (ALICE, "bob@players.example")
    ]
    if status:
        groups[0] += f"\nStatus: {status}"
    report = multipart(
        "From: MAILER-DAEMON", notice, "Reporting-MTA: dns; x\n\n" + "\n\n".join(groups)
    )
    first, second = read(report.replace("\n", "\r\n").encode())
    assert first.verdict in verdicts
    assert second.verdict is Verdict.HARD


@rows("name", ["bounce_sendmail.eml", "bounce_opensmtpd.eml"])
def test_reports_about_us_say_nothing_about_the_address(name: str) -> None:
    (failure,) = read((HERE / name).read_bytes().replace(b"\n", b"\r\n"))
    assert failure.verdict is Verdict.REFUSED
    assert failure.status.startswith("5.")
    assert "550 5.7" in failure.diagnostic


def test_a_diagnostic_is_one_harmless_line() -> None:
    line = one_line(f"550\r\n <b>no\x00\x1b[31m\u202e user</b> {OUR} " + "x " * 1000)
    assert line.isprintable()
    assert len(line) <= LONGEST_DIAGNOSTIC
    assert "***@games.example" in line
    assert "aeaq" not in line
