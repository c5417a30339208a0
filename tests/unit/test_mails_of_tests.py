"""Mails that tests write by themselves are those that the standard library would write."""

from __future__ import annotations

from email.message import EmailMessage

from headers import READ, SENT, written
from hypothesis import given
from hypothesis import strategies as st

PIECES = (
    *("", "a", "blackbox move 12", "Re: yes", "=?utf-8?q?x?=", "<1@x.example>", "ä", "x" * 70),
    *("a  b", " a", "a, b; c", '"q"', "(c)", "a:b", "b\tc", ".", "-- ", "From me", "> so"),
)
SUBJECTS = st.lists(st.sampled_from(PIECES), max_size=3).map(" ".join)
BODIES = st.lists(st.sampled_from(PIECES), max_size=5).map("\n".join)
PEOPLE = st.sampled_from(
    ("a@b.example", "a+b.c-d@e.example", "Alice <a@b.example>", '"a b"@c.example')
)
NUMBERS = st.sampled_from(("<1@x.example>", "<a.b-c@x.example>"))


@given(sender=PEOPLE, subject=SUBJECTS, number=NUMBERS, body=BODIES, is_reply=st.booleans())
def test_a_mail_of_the_tests_equals_that_of_the_standard_library(
    sender: str, subject: str, number: str, body: str, *, is_reply: bool
) -> None:
    headers = {
        "From": sender,
        "To": "pbmserv+abc@games.example",
        "Subject": subject,
        "Message-ID": number,
        **({"In-Reply-To": "<2@x.example>"} if is_reply else {}),
    }
    message = EmailMessage(READ)
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    read_by_library = message.as_bytes(policy=SENT).replace(b"Subject:\r\n", b"Subject: \r\n")
    assert written(headers, body).replace(b"Subject:\r\n", b"Subject: \r\n") == read_by_library
