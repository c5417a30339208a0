"""Reading a stranger's mail ends soon, and raises nothing but MailError."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import MailError
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import new_text
from pbmserv.mail.envelope import Envelope

PIECES = st.sampled_from(
    [
        b"From: a@b.org\r\n",
        b"Subject: =?",
        b"Content-Type: multipart/mixed; boundary=b\r\n",
        b"Content-Type: text/html; charset=\xff\r\n",
        b"Content-Type: text/plain; format=flowed; charset=",
        b"Content-Transfer-Encoding: base64\r\n",
        b"Content-Transfer-Encoding: quoted-printable\r\n",
        b"Content-Disposition: attachment; filename*0*=\r\n",
        b"Message-ID: <",
        b"Date: ",
        b"\r\n",
        b"\r\n\r\n",
        b"\r\n--b\r\n",
        b"\r\n--b--\r\n",
        b"utf-16\r\n",
        b"=?",
        b"<p>",
        b" ",
        b"\n",
        b"\r",
        b"\x00",
        b"\xed\xa0\x80",
        b">",
    ]
)


def hears_only_mail_errors(raw: bytes) -> None:
    envelope = Envelope("a@b.org", "b+12@play.example.net", raw)
    try:
        mail = read_mail(envelope, host="play.example.net", is_ours=lambda _: False)
    except MailError:
        return
    for value in (mail.sender, mail.subject, mail.text, mail.message_id):
        value.encode()
    new_text(mail.text)


@given(st.binary(max_size=300), st.booleans())
def test_random_octets_raise_nothing_but_mail_errors(octets, signed):
    hears_only_mail_errors(b"From: a@b.org\r\n" * signed + octets)


@given(st.lists(PIECES | st.binary(max_size=8), max_size=40), st.booleans())
def test_shuffled_mails_raise_nothing_but_mail_errors(pieces, signed):
    hears_only_mail_errors(b"From: a@b.org\r\n" * signed + b"".join(pieces))


@rows(
    "head",
    [
        b"From: a@b.org\r\nSubject: =?utf-8?b?a?=\r\n",
        b"From: @\r\n",
        b"From: <\r\n",
        b"From: [\r\n",
        b"From: a@[\r\n",
        b'From: "\r\n',
        b"From: a@b.org (\r\n",
        b"From: a@b.org\r\nTo: (\r\n",
        b"From: a@b.org\r\nContent-Type: =?utf-8?q?x?=\r\n",
        b"From: a@b.org\r\nContent-Type: text/plain; charset*=''%\r\n",
        b"From: a@b.org\r\nContent-Type: text/plain; charset*0*=;*1=\r\n",
        b"From: a@b.org\r\nContent-Type: ;\r\n",
        b"From: a@b.org\r\nContent-Type: multipart/mixed; boundary=\xff\r\n",
        b"From: a@b.org\r\nContent-Disposition: =\r\n",
        b"From: a@b.org\r\nContent-Transfer-Encoding: \xff\r\n",
        b"From: a@b.org\r\nMessage-ID: [\r\n",
        b"From: a@b.org\r\nMessage-ID: <@\r\n",
        b"From: a@b.org\r\nDate: Mon, 99 Foo 99999 99:99 +9999999\r\n",
        b"From: a@b.org\r\nIn-Reply-To: \xff\r\n",
        b"\r\n",
        b"",
        b":",
        b" ",
    ],
)
def test_headers_that_crashed_other_parsers(head):
    hears_only_mail_errors(head + b"\r\ng")
    hears_only_mail_errors(head)
