"""From octets to a Mail: charsets, parts, HTML, digests."""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import base64

from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.html import read_html
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.inbound.text import decode
from pbmserv.mail.envelope import Envelope, Mail

FROM = "From: Alice <alice@example.org>\r\n"


def read(raw: bytes | str, sender: str = "alice@example.org") -> Mail:
    octets = raw.encode() if isinstance(raw, str) else raw
    return read_mail(Envelope(sender, "b+12@games.example", octets), HOUSE)


def text_of(content_type: str, body: bytes, encoding: str = "8bit") -> str:
    head = f"{FROM}Content-Type: {content_type}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
    return read(head.encode() + body).text


def multipart(kind: str, *parts: str, boundary: str = "BB", more: str = "") -> str:
    inner = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts)
    head = f"Content-Type: multipart/{kind}; boundary={boundary}{more}\r\n\r\n"
    return f"{head}preamble\r\n{inner}--{boundary}--\r\nepilogue\r\n"


PLAIN = "Content-Type: text/plain; charset=utf-8\r\n\r\nplain Grüße"
HTML = "Content-Type: text/html; charset=utf-8\r\n\r\n<p>html Grüße</p>"
FILE = "Content-Type: text/plain\r\nContent-Disposition: attachment\r\n\r\nresign"
NAMED = 'Content-Type: text/plain\r\nContent-Disposition: inline; filename="a"\r\n\r\nresign'
FORWARD = "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nresign"
SIGNATURE = "Content-Type: application/pgp-signature\r\n\r\n-----BEGIN PGP SIGNATURE-----"


@rows("value", ["", "x@y", "<a b@c>", "<a>\r\n <b>", "<>", "<" + "x" * 999 + ">"])
def test_only_a_plain_message_id_is_kept(value):
    assert read(f"{FROM}Message-ID: {value}\r\n\r\n").message_id == ""


@rows(
    ("charset", "octets", "text"),
    [
        ("utf-8", "Grüße".encode(), "Grüße"),
        ("iso-8859-1", b"Gr\xfc\xdfe \x80", "Grüße €"),
        ("ISO_8859-15", b"\xa4", "€"),
        ("windows-1251", b"\xef\xf0\xe8", "при"),
        ("koi8-r", b"\xd0\xd2\xc9", "при"),
        ("iso-2022-jp", b"\x1b$BF|K\\\x1b(B", "日本"),
        ("shift_jis", b"\x93\xfa\x96{", "日本"),
        ("gb2312", b"\xc8\xd5\xb1\xbe", "日本"),
        ("big5", b"\xa4\xe9\xa5\xbb", "日本"),
        ("euc-kr", b"\xc7\xd1", "한"),
        ("us-ascii", "Grüße".encode(), "Grüße"),
        ("us-ascii", b"Gr\xfc\xdfe", "Grüße"),
        ("utf-8", b"Gr\xfc\xdfe", "Grüße"),
        ("iso-2022-jp", "Grüße".encode(), "Grüße"),
        ("x-nonsense", b"Gr\xfc\xdfe", "Grüße"),
        ("unicode_escape", b"\\x41", "\\x41"),
        ("punycode", b"a-", "a-"),
        ("utf-7", b"+2AA-", "+2AA-"),
        ("utf-7", b"h,+-b2", "h,+b2"),
        ("utf-16", b"h,+b2", "h,+b2"),
        ("utf-16", "h,+b2".encode("utf-16-be"), "h,+b2"),
        ("utf-16", "h,+b2".encode("utf-16-le"), "h,+b2"),
        ("utf-16", "h,+b2".encode("utf-16"), "h,+b2"),
        ("utf-32", "h,+b2".encode("utf-32-be"), "h,+b2"),
        ("utf-32", "h,+b2".encode("utf-32"), "h,+b2"),
        ("cp50220", "ｈ，＋ｂ２".encode("iso-2022-jp"), "ｈ，＋ｂ２"),
        ("csISO2022JP", "ｈ，＋ｂ２".encode("iso-2022-jp"), "ｈ，＋ｂ２"),
        ("", "ｈ，＋ｂ２".encode("iso-2022-jp"), "ｈ，＋ｂ２"),
        ("iso-2022-jp", b'\x1b$B#h!$-!$"\x1b(I12\x1b(B', "ｈ，①あｱｲ"),
        ("gb2312", "h，+b2 你好".encode("gbk") + b"\xc4", "h，+b2 你好\ufffd"),
        ("shift_jis", "ｈ，①".encode("cp932") + b"\x81", "ｈ，①\ufffd"),
        ("undefined", b"a", "a"),
        ("", b"a", "a"),
    ],
)
def test_the_declared_charset_then_utf_8_then_windows_1252(charset, octets, text):
    assert text_of(f'text/plain; charset="{charset}"', octets) == text
    assert decode(octets, charset) == text


@rows("odd", ["\r", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nothing_but_a_line_feed_ends_a_line(odd):
    text = text_of("text/plain; charset=utf-8", f"> quoted{odd}resign\r\n\r\ng".encode())
    assert text.splitlines() == ["> quoted resign", "", "g"]
    assert read_new_text(text).text == "g"


def test_flowed_text_is_joined_and_stays_quoted():
    lines = [
        "One ",
        "line ",
        "here.",
        " > stuffed",
        "> quo ",
        "> ted",
        ">> deep ",
        "new",
        "-- ",
        "A",
    ]
    body = "\r\n".join([*lines, ""]).encode()
    assert text_of("text/plain; format=flowed", body) == (
        "One line here.\n> stuffed\n> quo ted\n>> deep \nnew\n-- \nA\n"
    )


@rows(
    ("encoding", "body", "text"),
    [
        ("quoted-printable", b"Gr=C3=BC=C3=\r\n=9Fe =3D", "Grüße ="),
        ("Quoted-Printable", b"soft=  \t\r\nbreak =ZZ =", "softbreak =ZZ "),
        ("base64", base64.b64encode("Grüße".encode()), "Grüße"),
        ("BASE64", b"R3L D\r\nvMO!fZ Q", "Grüße"),
        ("base64", b"Zw==\r\n-- \r\nlist footer\r\n", "g"),
        ("base64", b"Zzzzz", "g<\xf3"),
        ("x-unheard-of", b"g", "g"),
    ],
)
def test_transfer_encodings_survive_damage(encoding, body, text):
    assert text_of("text/plain; charset=utf-8", body, encoding) == text


@rows(
    ("body", "text"),
    [
        (multipart("alternative", PLAIN, HTML), "plain Grüße"),
        (multipart("alternative", HTML, PLAIN), "plain Grüße"),
        (multipart("mixed", FILE, NAMED, FORWARD, PLAIN, HTML), "plain Grüße"),
        (multipart("mixed", HTML, "\r\nlist footer"), "html Grüße"),
        (
            multipart("mixed", multipart("alternative", PLAIN, HTML, boundary="B"), FILE),
            "plain Grüße",
        ),
        (multipart("alternative", "Content-Type: text/plain\r\n\r\n \r\n", HTML), "html Grüße"),
        (multipart("signed", PLAIN, SIGNATURE), "plain Grüße"),
        (multipart("digest", "Subject: x\r\n\r\nresign"), ""),
        (multipart("mixed", "\r\nno headers"), "no headers"),
        (multipart("mixed", PLAIN).partition("--BB--")[0], "plain Grüße\n"),
        (multipart("mixed", PLAIN).replace("--BB\r\n", "--BB \t\r\n"), "plain Grüße"),
        (multipart("mixed", "\r\na\r\n--BBB\r\nb"), "a\n--BBB\nb"),
        ("Content-Type: multipart/mixed\r\n\r\n--\r\n\r\nresign", ""),
        ("Content-Type: multipart/mixed; boundary=x\r\n\r\nresign", ""),
        ("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x--\r\nresign", ""),
        ("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n--x\r\n\r\ng", "g"),
        ("Content-Type: application/pdf\r\n\r\nresign", ""),
        (FILE, ""),
        (FORWARD, ""),
        ("", ""),
    ],
)
def test_the_text_of_a_mail_of_parts(body, text):
    assert read(FROM + body if body else FROM).text == text


def nested(depth: int) -> str:
    head = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}x\r\n\r\n--b{n}x\r\n" for n in range(depth)
    )
    return f"{FROM}{head}\r\ng"


def test_parts_and_depth_have_bounds():
    assert read(nested(20)).text == "g"
    assert read(nested(21)).unread == "html"
    many = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    part = "--b\r\nContent-Type: image/png\r\n\r\n\r\n"
    assert read(FROM + many + part * 99 + "--b\r\n\r\ng").text == "g"
    assert read(FROM + many + part * 100 + "--b\r\n\r\ng").unread == "html"


def test_very_long_text_is_cut_at_a_line():
    text = text_of("text/plain", b"0123456789\r\n" * 80_000)
    assert 262_000 < len(text) <= 262_144
    assert set(text.split("\n")) == {"0123456789"}


@rows(
    ("markup", "text"),
    [
        ("<p>g,+b2</p><p>Hi&nbsp;&amp; bye</p>", "g,+b2\n\nHi & bye"),
        ("<div>g<br>luck</div><blockquote>resign</blockquote>", "g\nluck\n>"),
        ('<div>g</div><div id="x_divRplyFwdMsg">From: B</div><p>resign', "g"),
        ('<div>g</div><div id="appendonsend"></div><p>resign', "g"),
        ('g<div class="a yahoo_quoted">resign</div>', "g\n>"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a\nb\nc"),
        ("<style>p{}</style><script>resign</script><title>x</title>g", "g"),
        ('<div style="DISPLAY: none">resign</div>g<p hidden>resign</p>', "g"),
        ('g<span style="mso-hide:all;font-size:0"> and so on</span>,+b2', "g,+b2"),
        ('<p style="display:block">g,+b2', "g,+b2"),
        ("<!-- resign -->g<?php resign ?>", "g"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ('<?xml version="1.0" encoding="utf-16"?><p>Grüße', "Grüße"),
        ("", ""),
        ("   ", ""),
        ("<!-- -->", ""),
        ("<" * 5000, None),
        ("<div style='padding-left:99999em;margin-top:99999em;style:style:style'>x", "x"),
        ("\x00\ud800<p>\x00g", None),
    ],
)
def test_html_becomes_plain(markup, text):
    reading = read_html(markup)
    if text is not None:
        assert reading is not None
        assert read_new_text(reading.text).text == read_new_text(text).text
        assert text in ("g", reading.text)


@rows(
    "markup",
    [
        *("<div>" * 5000 + "x", "<div>" * 256 + "x", "<p>x" * 30_000),
        "<p>&nbsp;</p>" * 10_000 + "x",  # each of them is laid out as two elements
    ],
)
def test_html_beyond_all_bounds_does_not_look_like_an_empty_mail(markup):
    assert read_html(markup) is None
    mail = read(f"{FROM}Content-Type: text/html\r\n\r\n{markup}")
    assert (mail.text, mail.unread) == ("", "html")


def test_two_copies_of_a_mail_have_one_digest():
    head = f"{FROM}Date: Mon, 3 Mar 2014 10:00:00 +0000\r\nSubject: s\r\n"
    with_id = f"{head}Message-ID: <1@example.org>\r\n\r\n"
    assert read(f"{with_id}g").digest == read(f"Received: x\r\n{with_id}footer added").digest
    assert read(f"{head}\r\ng").digest == read(f"Received: x\r\n{head}\r\ng").digest
    packed = f"{head}Content-Transfer-Encoding: base64\r\n\r\nZw=="
    assert read(packed).digest == read(f"{head}\r\ng").digest


def test_two_mails_have_two_digests():
    date = "Date: Mon, 3 Mar 2014 10:00:00 +0000\r\n"
    mails = [
        f"{FROM}{date}\r\ng",
        f"{FROM}{date}\r\nh",
        f"{FROM}\r\ng",
        f"{FROM}{date}Subject: g\r\n\r\n",
        f"From: b@example.org\r\n{date}\r\ng",
        f"{FROM}Message-ID: <1@example.org>\r\n\r\ng",
        f"{FROM}Message-ID: <2@example.org>\r\n\r\ng",
        "From: b@example.org\r\nMessage-ID: <1@example.org>\r\n\r\ng",
    ]
    assert len({read(mail).digest for mail in mails}) == len(mails)
