"""Headers and addresses: read in one way only, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import MailError
from pbmserv.inbound.from_field import one_mailbox
from pbmserv.inbound.headers import (
    HEADER_LIMIT,
    content_type,
    first,
    read_headers,
    readable_value,
    split_block,
)
from pbmserv.inbound.message import read_head


def test_fields_are_unfolded_and_found_by_lower_case_name():
    headers = read_headers(b"To: a\r\nSUBJECT: one\r\n two\r\n\tthree\r\nto : b\r\nX:")
    assert headers == {"to": ["a", "b"], "subject": ["one two\tthree"], "x": [""]}
    assert first(headers, "to") == "a"
    assert first(headers, "cc") == ""


def test_an_mbox_separator_is_passed_over_but_a_spaced_from_counts():
    assert read_headers(b"From alice Mon Mar  3 10:00:00 2014\r\nFrom: a") == {"from": ["a"]}
    assert read_headers(b"From : a") == {"from": ["a"]}


@rows(
    "block",
    [b"no colon here", b"To: a\r\nnonsense\r\nFrom: b", b" folded first", b": x", b"A B: x",
     b"Fr\x00om: x", b"Fr\xc3\xb6m: x"],
)  # fmt: skip
def test_a_line_that_is_no_field_is_refused(block):
    with pytest.raises(MailError, match="bad-header"):
        read_headers(block)


def test_the_block_ends_at_the_first_empty_line():
    assert split_block(b"A: b\r\n\r\nc\r\n\r\nd") == (b"A: b", b"c\r\n\r\nd")
    assert split_block(b"\r\nc") == (b"", b"c")
    assert split_block(b"A: b") == (b"A: b", b"")


def test_64_kib_of_headers_are_the_most():
    assert split_block(b"x" * HEADER_LIMIT + b"\r\n\r\n")[1] == b""
    with pytest.raises(MailError, match="headers-too-long"):
        split_block(b"x" * (HEADER_LIMIT + 1) + b"\r\n\r\n")


@rows(
    ("value", "subject"),
    [
        ("=?utf-8?q?blackbox_move_12?= g", "blackbox move 12 g"),
        ("=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
        ("=?utf-8?B?R3LDvMOfZQ?=", "Grüße"),
        ("=?iso-8859-1?Q?Gr=FC=DFe?=", "Grüße"),
        ("=?utf-8?q?Gr=C3?= =?utf-8?q?=BC=C3=9Fe?=", "Grüße"),
        ("=?utf-8?q?a?= =?iso-8859-1?q?=FC?= b", "aü b"),
        ("a =?utf-8?q?b?= c =?utf-8?q?d?= e", "a b c d e"),
        ("=?utf-8*de?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?x-unknown?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?punycode?q?a?=", "a"),
        ("=?utf-8?b?!?=", ""),
        ("=?utf-8?b?abcde?= g", "=?utf-8?b?abcde?= g"),
        ("=?utf-8?q?unfinished", "=?utf-8?q?unfinished"),
        ("=?utf-8?q?a=0D=0ABcc:_x?=", "a Bcc: x"),
        ('move 12 alice "two  blanks"', 'move 12 alice "two  blanks"'),
        ("Gru\u0308\u00dfe", "Grüße"),
        ("Gr\udcfc\udcdfe", "Grüße"),
        ("a\tb\x00\x7f", "a b"),
    ],
)
def test_a_subject_becomes_one_line(value, subject):
    assert readable_value(value) == subject


@given(st.text(), st.text(), st.sampled_from("qQbB"))
def test_no_subject_breaks_the_reader(charset, text, encoding):
    line = readable_value(f"=?{charset}?{encoding}?{text}?= {text}")
    assert line.isprintable() or "\n" not in line
    line.encode()


@rows(
    ("value", "kind", "params"),
    [
        ("Text/Plain; Charset=UTF-8; format=flowed", "text/plain",
         {"charset": "UTF-8", "format": "flowed"}),
        ('multipart/mixed; boundary="a \\"b\\" ;c"', "multipart/mixed", {"boundary": 'a "b" ;c'}),
        ("text/html (really) ; charset = latin1", "text/html", {"charset": "latin1"}),
        ("text", "text/plain", {}),
        ("", "text/plain", {}),
        ('text/plain; charset="utf-8', "text/plain", {"charset": "utf-8"}),
        ('multipart/mixed; boundary*0="a b"; boundary*1=c', "multipart/mixed",
         {"boundary": "a bc"}),
        ("multipart/mixed; boundary*1=c; boundary*0*=us-ascii'en'a%20b", "multipart/mixed",
         {"boundary": "a bc"}),
        ("text/plain; charset*=''utf-8; x*0=a; x*2=c; y**=d; *=e; z*0x=f", "text/plain",
         {"charset": "utf-8", "x": "ac", "y**": "d", "*": "e", "z*0x": "f"}),
        ("a/b; filename*=utf-8''%c3%bc%FF", "a/b", {"filename": "\u00c3\u00bc\u00ff"}),
        ("text/plain; charset=a; charset=b", "text/plain", {"charset": "a"}),
    ],
)  # fmt: skip
def test_content_types(value, kind, params):
    read = content_type(value)
    assert read.kind == kind
    assert read.params == params


@rows(
    ("value", "address"),
    [
        ("alice@example.org", "alice@example.org"),
        ("Alice <Alice@EXAMPLE.org>", "Alice@example.org"),
        ('"Example, Alice (she)" <alice@example.org>', "alice@example.org"),
        ('"evil@example.com" <alice@example.org>', "alice@example.org"),
        ("alice@example.org (Alice (of Ex\\)ample))", "alice@example.org"),
        ("(x) Alice <alice@example.org> (y)", "alice@example.org"),
        ("Alice@example.org <alice@example.org>", "alice@example.org"),
        ("=?utf-8?q?Al=C3=AFce?= <alice@example.org>", "alice@example.org"),
        ("<alice@localhost>", "alice@localhost"),
        ("a.b+c=d!#$%&'*/?^_`{|}~-@example.org", "a.b+c=d!#$%&'*/?^_`{|}~-@example.org"),
        ("a..b@Example.org", "a..b@example.org"),
        ("taro.@example.org", "taro.@example.org"),
        ("Taro <.taro@example.org>", ".taro@example.org"),
        ("...a...b...@example.org", "...a...b...@example.org"),
        ('"taro..y"@docomo.players.example', "taro..y@docomo.players.example"),
        ('Taro Y <"taro.."@example.org>', "taro..@example.org"),
        ('"Y, Taro" <".taro"@example.org> (home)', ".taro@example.org"),
        ('"taro"@example.org (Taro)', "taro@example.org"),
        ('"ta..r\xf6"@example.org', "ta..r\xf6@example.org"),
        ("Jörg <jo\u0308rg@Bücher.example>", "jörg@bücher.example"),
    ],
)
def test_one_mailbox_is_found(value, address):
    assert one_mailbox(value) == address


@rows(
    "value",
    [
        "", "Alice", "Alice <>", "<alice>", "alice@", "@example.org", "a@b@c.org",
        '"alice smith"@example.org', "alice@[192.0.2.1]", "alice@192.0.2.1", ".@example.org",
        "...@example.org", '"."@b.org', '"a@b"@c.org', '"a"b"@c.org', '"a"b@c.org', 'a"b"@c.org',
        '""@b.org', '"a\\.b"@c.org', '"a>"@b.org', '"a(b)"@c.org', '"a@b.org"', '"a" "b"@c.org',
        '"a"@b.org <c@d.org>', '"a" @b.org', '<"a" @b.org>', 'x "a"@b.org', '"=?utf-8?q?a?="@b.org',
        "a@-b.org", "a@b-.org", "a@b..org", "a@b.org.",
        "a b@example.org", "<a@b.org> <c@d.org>", "<a@b.org> c@d.org", "c@d.org <a@b.org>",
        "<<a@b.org>>", "Alice <a@b.org", "a@b.org>", '"unfinished <a@b.org>', "(a@b.org",
        "((a) a@b.org", "=?utf-8?q?a=40b.org?=@c.org", "=?utf-8?q?a=40b.org?=", "a\x00@b.org",
        "a@b.org\x00", "a\udcfc@b.org", "a\u200b@b.org", "a\u00a0@b.org", "a@b\u3002org",
        "x" * 65 + "@example.org", "a@" + ".".join(["b" * 60] * 5), "ö" * 33 + "@example.org",
        "a@" + ".".join(["ö" * 30] * 5), "é" * 300, "<@x.org,@y.org:a@b.org>", "a\\@b.org",
    ],
)  # fmt: skip
def test_other_forms_of_a_mailbox_are_refused(value):
    with pytest.raises(MailError):
        one_mailbox(value)


@rows(
    "value", ["a@b.org, c@d.org", "a@b.org;", "Group: a@b.org;", "Group:;", "Smith, Al <a@b.org>"]
)
def test_lists_and_groups_are_several(value):
    with pytest.raises(MailError, match="several-from"):
        one_mailbox(value)


DOTTED = st.text("ab.", min_size=1, max_size=12)


@given(
    DOTTED,
    st.sampled_from(["{}@b.example", '"{}"@b.example', 'A <"{}"@b.example>', "<{}@b.example>"]),
)
def test_dots_may_stand_anywhere(local, form):
    value = form.format(local)
    if set(local) == {"."}:
        with pytest.raises(MailError, match="bad-from"):
            one_mailbox(value)
    else:
        assert one_mailbox(value) == f"{local}@b.example"
        raw = f"From: {value}\r\n\r\nx".encode()
        assert read_head(raw)[2] == f"{local}@b.example"


@given(st.text(max_size=60))
def test_an_accepted_mailbox_reads_as_itself(text):
    try:
        address = one_mailbox(text)
    except MailError:
        return
    assert one_mailbox(address) == address
    assert one_mailbox(f"<{address}>") == address
    local, _, domain = address.rpartition("@")
    assert one_mailbox(f'"{local}"@{domain}') == one_mailbox(f'X <"{local}"@{domain}>') == address
    assert len(address.encode()) <= 254
