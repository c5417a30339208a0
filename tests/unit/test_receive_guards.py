"""What is turned away on the wire, and what is never answered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.receive.guards import Automatic, automatic, wire_refusal

HOST = "play.example.net"


def is_ours(address: str) -> bool:
    return address.endswith("@" + HOST)


def judge(
    headers: dict[str, list[str]] | None = None,
    envelope_sender: str = "alice@example.org",
    sender: str = "alice@example.org",
    subject: str = "Re: board 12",
) -> Automatic:
    return automatic(
        headers or {},
        envelope_sender=envelope_sender,
        sender=sender,
        subject=subject,
        host=HOST,
        is_ours=is_ours,
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"a\nb\r\n",
        b"a\rb\r\n",
        b"\n",
        b"\r",
        b"a\r\r\nb",
        b"a\r\n\nb",
        b"a\n\rb",
        b"Subject: a\rFrom: forged@example.org\r\n\r\n",
        b"x\r\n\n.\r\nMAIL FROM:<>\r\n",
    ],
)
def test_bare_line_ends_are_refused(raw):
    assert wire_refusal(raw).startswith("550 5.6.0 ")


@pytest.mark.parametrize("before", [b"", b"a\r\n", b"b" * 998 + b"\r\n"])
@pytest.mark.parametrize("after", [b"", b"\r\n", b"\r\nc", b"\r\n" * 2000])
def test_a_line_may_have_998_octets_and_not_one_more(before, after):
    assert wire_refusal(before + b"x" * 998 + after) is None
    assert wire_refusal(before + b"x" * 999 + after).startswith("550 5.6.0 ")


@given(st.lists(st.integers(0, 1100), max_size=30), st.booleans())
def test_long_lines_are_found_wherever_they_stand(lengths, ended):
    raw = b"\r\n".join(b"x" * n for n in lengths) + (b"\r\n" if ended else b"")
    assert (wire_refusal(raw) is None) == all(n <= 998 for n in lengths)


@given(st.binary(max_size=60))
def test_a_sound_mail_has_line_ends_only_in_pairs(raw):
    rest = raw.replace(b"\r\n", b"")
    assert (wire_refusal(raw) is None) == (b"\r" not in rest and b"\n" not in rest)


def test_loops_are_left_to_be_judged_later():
    assert wire_refusal(b"Received: x\r\n" * 40 + b"X-Loop: play.example.net\r\n\r\n") is None


def test_a_person_s_mail_may_be_answered():
    headers = {
        "received": ["x"] * 25,
        "auto-submitted": ["no"],
        "precedence": ["first-class"],
        "x-auto-response-suppress": ["None"],
        "x-loop": ["somebody.example.org"],
        "content-type": ["multipart/alternative; boundary=report"],
    }
    assert judge(headers) == Automatic("", only_auto_submitted=False)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"precedence": ["bulk"]}, "precedence"),
        ({"precedence": ["List"]}, "precedence"),
        ({"precedence": ["junk"]}, "precedence"),
        ({"precedence": ["auto_reply"]}, "precedence"),
        ({"x-auto-response-suppress": ["All"]}, "auto-response-suppress"),
        ({"x-auto-response-suppress": ["OOF, DR"]}, "auto-response-suppress"),
        ({"list-id": ["<a.example.org>"]}, "mailing-list"),
        ({"list-unsubscribe": ["<mailto:x@example.org>"]}, "mailing-list"),
        ({"x-loop": ["PLAY.example.net"]}, "own-loop"),
        ({"received": ["x"] * 26}, "too-many-received"),
        ({"content-type": ["multipart/report; report-type=delivery-status"]}, "report"),
        ({"content-type": ["message/delivery-status"]}, "report"),
        ({"x-failed-recipients": ["a@example.org"]}, "report"),
        ({"x-autoreply": ["yes"]}, "autoreply-header"),
    ],
)
def test_robots_betray_themselves_by_headers(headers, reason):
    assert judge(headers) == Automatic(reason)
    both = judge({**headers, "auto-submitted": ["auto-replied"]})
    assert both.reason == reason
    assert not both.only_auto_submitted


@pytest.mark.parametrize("value", ["auto-replied", "auto-generated; x=y", "Auto-Notified", "yes"])
def test_auto_submitted_alone_is_told_apart(value):
    assert judge({"auto-submitted": [value]}) == Automatic("auto-submitted", True)
    assert judge({"auto-submitted": ["no", value]}) == Automatic("auto-submitted", True)


@pytest.mark.parametrize("value", ["no", "No", "no; comment", "no (a person)"])
def test_auto_submitted_no_is_a_person(value):
    assert judge({"auto-submitted": [value]}) == Automatic()


def test_the_null_sender_and_our_own_addresses_are_never_answered():
    assert judge(envelope_sender="").reason == "null-sender"
    assert judge(envelope_sender="<>").reason == "null-sender"
    assert judge(sender="b+12@play.example.net").reason == "own-address"
    assert judge(envelope_sender="b+12@play.example.net").reason == "own-address"


@pytest.mark.parametrize(
    "local",
    [
        "MAILER-DAEMON", "postmaster", "no-reply", "noreply", "No_Reply", "noreply-accounts",
        "club-noreply", "donotreply", "do-not-reply", "do.not.reply", "bounce", "bounces",
        "bounces-12=alice", "bounce+1234", "owner-players", "players-request", "players-bounces",
    ],
)  # fmt: skip
def test_nobody_reads_behind_role_accounts(local):
    assert judge(sender=f"{local}@example.org").reason == "role-account"
    assert judge(envelope_sender=f"{local}@example.org").reason == "role-account"


@pytest.mark.parametrize("local", ["alice", "noel", "daemonica", "masterpost", "bouncy.castle"])
def test_people_have_names_that_look_like_roles(local):
    assert judge(sender=f"{local}@example.org") == Automatic()


@pytest.mark.parametrize(
    "subject",
    [
        "Out of Office: back on Monday",
        "Automatic reply: board 12",
        "Abwesenheitsnotiz: board 12",
        "Automatische Antwort: board 12",
        "Réponse automatique : board 12",
        "Respuesta automática: board 12",
        "Risposta automatica: board 12",
        "Resposta automática: board 12",
        "Automatisch antwoord: board 12",
        "Autosvar: board 12",
        "Automaattinen vastaus: board 12",
        "Automatyczna odpowiedź: board 12",
        "Автоматический ответ: board 12",
        "自動応答: board 12",
        "自动回复: board 12",
        "Undelivered Mail Returned to Sender",
        "Delivery Status Notification (Failure)",
    ],
)
def test_vacation_programs_are_known_by_their_subjects(subject):
    assert judge(subject=subject).reason == "away-subject"


def test_a_person_who_answers_a_vacation_notice_is_a_person():
    assert judge(subject="Re: Automatic reply: board 12") == Automatic()
