"""Mails that broke other readers, mostly Python's own parser, and what must come of each here.

`CASES` has (header lines below From, body, what comes of it) by name. What comes: a word that
begins an SMTP reply, ``"answered"`` for one letter to the sender, or ``"silent"`` for none.
"""

from __future__ import annotations

import base64

ANSWERED, SILENT, REFUSED, WIRE = "answered", "silent", "554 5.6.0", "550 5.6.0"
NO_BODY = b"none"
HELP = "Subject: help\r\n"


def nested(depth: int) -> tuple[str, str]:
    """Multiparts within multiparts."""
    inner = "".join(
        f"--b{n}x\r\nContent-Type: multipart/mixed; boundary=b{n + 1}x\r\n\r\n"
        for n in range(depth)
    )
    return "Content-Type: multipart/mixed; boundary=b0x\r\n", f"{inner}--b{depth}x\r\n\r\nhelp"


def chained(depth: int) -> str:
    """Messages within messages."""
    return "Content-Type: message/rfc822\r\n\r\n" * depth + "help"


def kind(value: str) -> str:
    return f"{HELP}Content-Type: {value}\r\n"


def coded(encoding: str, value: str = "text/plain; charset=utf-8") -> str:
    return f"Content-Type: {value}\r\nContent-Transfer-Encoding: {encoding}\r\n"


PARTS = "--b\r\nContent-Type: text/plain\r\n\r\nhelp\r\n--b--\r\n"
MIXED = "Content-Type: multipart/mixed; boundary=b\r\n"

CASES: dict[str, tuple[str | bytes, str | bytes, str]] = {
    # get_param, RFC 2231: bpo-33972, gh-66890, bpo-10582, bpo-37461, gh-73018
    "a parameter without a name": (kind("text/plain; =x"), "", ANSWERED),
    "no type": (kind(""), "", ANSWERED),
    "a lone quote": (kind('text/plain; charset="'), "", ANSWERED),
    "rfc 2231 with a gap": (kind("text/plain; charset*0=u; charset*2=8"), "", ANSWERED),
    "rfc 2231, a huge number": (kind("text/plain; charset*99999999999=u"), "", ANSWERED),
    "rfc 2231, odd digits": (kind("text/plain; charset*\u00b2=u"), "", ANSWERED),
    "a charset with a path": (kind("text/plain; charset=../../etc/passwd"), "", ANSWERED),
    "a charset that is no text": (kind("text/plain; charset=base64"), "aGVscA==", ANSWERED),
    "a charset that executes": (kind("text/plain; charset=unicode_escape"), "\\N{x", ANSWERED),
    "idna": (kind("text/plain; charset=idna"), "xn--" + "a" * 300, ANSWERED),
    # _header_value_parser: IndexError and others on these (bpo-30681, bpo-37764, gh-80222 ...)
    "date, nonsense": (f"{HELP}Date: 99 Foo 99999 99:99:99 +99999\r\n", "", ANSWERED),
    "date, a number beyond all years": (f"{HELP}Date: Mon, 3 Mar {'9' * 400}\r\n", "", ANSWERED),
    "message-id, a bracket": (f"{HELP}Message-ID: [\r\n", "", ANSWERED),
    "message-id, a literal": (f"{HELP}Message-ID: <x@[\r\n", "", ANSWERED),
    "references, nul": (f"{HELP}References: <a\0@b> <\r\n", "", ANSWERED),
    "disposition, half rfc 2231": (
        f"{HELP}Content-Disposition: inline; filename*0*=\r\n", "", ANSWERED),
    "encoding, beyond ascii": (f"{HELP}Content-Transfer-Encoding: b\u00e4se64\r\n", "", ANSWERED),
    "to, half a comment": (f"{HELP}To: (\r\n", "", ANSWERED),
    "to, nested comments": (f"{HELP}To: {'(' * 900}\r\n", "", ANSWERED),
    "cc, very many": (HELP + "".join(f"Cc: a{n}@b.example\r\n" for n in range(2500)), "", ANSWERED),
    "a hundred thousand addresses": (
        HELP + "To: a@b.example" + ",\r\n a@b.example" * 100_000 + "\r\n", "", "55"),
    # Subjects
    "subject, unknown charset": ("Subject: =?x-y?q?help?=\r\n", "", ANSWERED),
    "subject, broken base64": ("Subject: =?utf-8?b?abcde?=\r\n", "", ANSWERED),
    "subject, hidden lines": ("Subject: =?utf-8?q?help=0D=0ABcc:_x@y.example?=\r\n", "", ANSWERED),
    "subject, surrogates": (b"Subject: help \xed\xa0\x80\r\n", "", ANSWERED),
    "subject, raw latin-1": (b"Subject: Gr\xfc\xdfe\r\n", "", ANSWERED),
    "subject, nul": ("Subject: he\0lp\r\n", "", ANSWERED),
    "subject, huge encoded word": (
        "Subject: =?utf-8?q?" + "\r\n ".join(["x" * 900] * 60) + "?=\r\n", "", ANSWERED),
    "two subjects": (f"Subject: list\r\n{HELP}", "", ANSWERED),
    # Headers as such
    "no colon": (f"{HELP}nonsense\r\n", "", REFUSED),
    "a name beyond ascii": (f"{HELP}\u00dcber: z\r\n", "", REFUSED),
    "a second From": (f"{HELP}From: b@players.example\r\n", "", REFUSED),
    "a second From, folded": (f"{HELP}X: y\r\nfrom:\r\n b@players.example\r\n", "", REFUSED),
    "every header twice": (HELP * 2 + "Content-Type: text/plain\r\n" * 2, "", ANSWERED),
    "types that disagree": (
        f"{HELP}Content-Type: text/plain\r\n{MIXED}Content-Type: text/html\r\n", "", ANSWERED),
    "a header bomb": (HELP + "X: y\r\n" * 12_000, "", REFUSED),
    "a folded bomb": (HELP + "X:" + "\r\n y" * 25_000 + "\r\n", "", REFUSED),
    "a lone CR in a header": (b"Subject: x\rFrom: b@players.example\r\n", "", WIRE),
    "a lone LF in a header": (b"Subject: x\nFrom: b@players.example\r\n", "", WIRE),
    "a lone CR in the body": (HELP, b"a\rb", WIRE),
    "a line of 999 octets": (HELP, "x" * 999, WIRE),
    # Bodies
    "no boundary": (kind("multipart/mixed"), PARTS, ANSWERED),
    "an empty boundary": (kind("multipart/mixed; boundary="), PARTS, ANSWERED),
    "a boundary that never comes": (kind("multipart/mixed; boundary=zz"), PARTS, ANSWERED),
    "a boundary never closed": (MIXED, "--b\r\n\r\nhelp", ANSWERED),
    "a boundary within itself": (MIXED, f"--b\r\n{MIXED}\r\n{PARTS}--b--\r\n", ANSWERED),
    "a part without an end of its headers": (MIXED, "--b\r\nContent-Type: text/plain", ANSWERED),
    "a part whose header is none": (MIXED, "--b\r\nnonsense\r\n\r\nhelp\r\n--b--\r\n", ANSWERED),
    "a hundred parts too many": (MIXED, "--b\r\n\r\n" * 200, ANSWERED),
    "nested ten thousand deep": (*nested(10_000), ANSWERED),
    "messages in messages": ("Content-Type: message/rfc822\r\n", chained(9_000), ANSWERED),
    "a body that is elsewhere": (
        kind('message/external-body; access-type=URL; url="http://127.0.0.1/"'), "", ANSWERED),
    "base64, other octets": (coded("base64"), b"a\xffGV\x00s\r\n!!cA==", ANSWERED),
    "base64, padding alone": (coded("base64") + HELP, "====", ANSWERED),
    "quoted-printable, torn": (coded("quoted-printable"), "help=\r\n=", ANSWERED),
    "uuencode": (coded("x-uuencode"), "begin 644 x\r\n$:&5L<```\r\nend\r\n", ANSWERED),
    "utf-16, a lone surrogate": (
        coded("base64", "text/plain; charset=utf-16-le"),
        base64.b64encode(b"\x00\xd8h\0").decode(), ANSWERED),
    "iso-2022-jp, an open escape": (
        coded("8bit", "text/plain; charset=iso-2022-jp"), b"\x1b$B\xff", ANSWERED),
    "a body of nul": (HELP, b"\0" * 900, ANSWERED),
    "html, nothing closed": (coded("8bit", "text/html"), "<p><b><table><td>help", ANSWERED),
    "html, deep": (coded("8bit", "text/html"), "<div>\r\n" * 9_000 + "help", ANSWERED),
    "html, a document type": (
        coded("8bit", "text/html"),
        '<!DOCTYPE x [<!ENTITY a "help"><!ENTITY b "&a;&a;">]><p>&b;', ANSWERED),
    "s/mime, an endless nest": (
        coded("base64", "application/pkcs7-mime"),
        "\r\n".join(["MIAwgDCAMIAwgDCAMIAwgDCAMIAwgDCA"] * 20_000), ANSWERED),
    "s/mime, nothing": (coded("base64", "application/pkcs7-mime"), "", ANSWERED),
    "no body, no empty line": ("", NO_BODY, ANSWERED),
    # Robots' tricks
    "a report": (kind("multipart/report; boundary=b"), PARTS, SILENT),
    "a loop": (HELP + "Received: from x\r\n" * 26, "", SILENT),
}  # fmt: skip

SENDERS: dict[str, tuple[str | bytes, str]] = {
    "a group": ("From: Friends: a@players.example, b@players.example;", REFUSED),
    "two mailboxes": ("From: a@players.example, b@players.example", REFUSED),
    "nothing": ("From:", REFUSED),
    "only a comment": ("From: (a@players.example)", REFUSED),
    "comments in comments": (f"From: a@players.example {'(' * 400}x{')' * 400}", ANSWERED),
    "a name that is an address": ('From: "b@x.example" <a@players.example>', ANSWERED),
    "an address before the address": ("From: b@x.example <a@players.example>", REFUSED),
    "a quoted local part": ('From: "a b"@players.example', REFUSED),
    "a literal": ("From: a@[192.0.2.1]", REFUSED),
    "a route": ("From: <@x.example,@y.example:a@players.example>", REFUSED),
    "a nul": ("From: a\0@players.example", REFUSED),
    "raw latin-1 in the name": (b"From: J\xf6rg <a@players.example>", ANSWERED),
    "an encoded name with an address": (
        "From: =?utf-8?q?=22b=40x.example=22?= <a@players.example>", ANSWERED),
    "an endless name": (
        "From: " + "\r\n ".join(["x" * 900] * 60) + " <a@players.example>", ANSWERED),
    "folded": ("From:\r\n a@players.example", ANSWERED),
}  # fmt: skip
