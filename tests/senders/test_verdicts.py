"""Proofs of the From address, and forgeries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dns_zone import Zone
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from signing import USUAL, ed25519_key, publish, rsa_key, sealed, signed

from pbmserv.inbound.auth.verdict import Trusted, examine
from pbmserv.mail.envelope import Envelope, Verdict

HOUSE = "pbmserv@games.example"
PEER = "198.51.100.7"
ALICE = "alice@home.example.org"


def mail(
    sender: str = ALICE,
    subject: str = "blackbox move 12 alice - g",
    to: str = HOUSE,
    more: str = "",
) -> bytes:
    return (
        f"{more}From: Alice <{sender}>\r\nTo: {to}\r\nSubject: {subject}\r\n"
        "Date: Sat, 21 Nov 2026 06:00:00 +0000\r\nMessage-ID: <1@home.example.org>\r\n"
        "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello.\r\n"
    ).encode()


def examined(zone: Zone, raw: bytes, trusted: Trusted | None = None, **envelope: Any) -> Verdict:
    envelope_read = Envelope(ALICE, HOUSE, raw, PEER, "mail.example.org")
    return examine(replace(envelope_read, **envelope), trusted or Trusted(), zone)


@pytest.fixture
def zone() -> Zone:
    """Yield a zone in which home.example.org signs its mails and names no mail servers."""
    names = Zone()
    publish(names, "home.example.org")
    return names


# -- signatures ------------------------------------------------------------------------------


@rows("key", [ed25519_key(), rsa_key()], ids=["ed25519", "rsa"])
def test_a_signature_of_the_senders_own_domain_proves_the_sender(key) -> None:
    zone = Zone()
    publish(zone, "home.example.org", key)
    verdict = examined(zone, signed(mail(), "home.example.org", key))
    assert verdict.result == "pass"
    assert "dkim=pass header.d=home.example.org" in verdict.checks
    assert verdict.checks.endswith("dmarc=pass header.from=home.example.org (no policy)")


@rows("d", ["example.org", "mailer.example.org", "HOME.Example.ORG"])
def test_a_domain_of_the_same_organisation_counts(d) -> None:
    zone = Zone()
    publish(zone, d)
    assert examined(zone, signed(mail(), d)).result == "pass"


def test_unless_the_senders_policy_is_strict() -> None:
    zone = Zone()
    publish(zone, "example.org")
    zone.add_txt("_dmarc.example.org", "v=DMARC1; p=none; adkim=s")
    assert examined(zone, signed(mail(), "example.org")).result == "fail"
    zone.add_txt("_dmarc.home.example.org", "v=DMARC1; p=none; adkim=r")  # its own goes first
    assert examined(zone, signed(mail(), "example.org")).result == "pass"


@rows(
    ("sender", "d"),
    [
        ("v@big-bank.com", "big.com"),
        ("v@big-bank.com", "bank.com"),
        ("v@bank.com", "big-bank.com"),
        ("v@bank.com", "bank.com.evil.example"),
        ("v@bank.co.uk", "evil.co.uk"),
        ("v@bank.co.uk", "co.uk"),
        ("v@a.github.io", "b.github.io"),
        ("v@bank.internal", "evil.internal"),
        ("v@b\u0430nk.com", "bank.com"),  # a Cyrillic a
        ("v@bank.com", "xn--bnk-7cd.com"),
        ("v@stra\u00dfe.example", "strasse.example"),
        ("v@bank.com", ".bank.com"),
        ("v@bank.com", "bank.com\u3002"),
    ],
)
def test_a_domain_that_only_looks_alike_proves_nothing(sender, d) -> None:
    zone = Zone()
    for name in (d, d.strip(".\u3002")):
        if name.isascii() and name == name.strip("."):
            publish(zone, name)
    try:
        raw = signed(mail(sender), d)
    except UnicodeEncodeError:
        raw = signed(mail(sender), "bank.com").replace(b"d=bank.com", f"d={d}".encode())
    verdict = examined(zone, raw)
    assert verdict.result == "fail", verdict


def test_a_domain_in_other_letters_is_known_by_its_a_labels() -> None:
    zone = Zone()
    publish(zone, "xn--mnchen-3ya.example")
    raw = signed(mail("v@m\u00fcnchen.example"), "xn--mnchen-3ya.example")
    assert examined(zone, raw).result == "pass"


@pytest.mark.parametrize(
    ("changed", "into"),
    [
        (b"Hello.", b"Goodbye."),
        (b"move 12 alice - g", b"resign 12 alice -"),
        (b"Alice <alice@", b"Alice <bob@"),
        (b"<1@home", b"<2@home"),
        (b"t=", b"t=9"),
    ],
)
def test_a_mail_that_was_changed_is_not_proven(zone, changed, into) -> None:
    raw = signed(mail(), "home.example.org")
    assert changed in raw
    assert examined(zone, raw.replace(changed, into)).result == "fail"


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("from", "to", "date", "message-id"), "subject is not signed"),
        (("from", "subject", "date", "message-id"), "to is not signed"),
        (("from", "to", "subject", "date"), "message-id is not signed"),
        (("from", "to", "subject", "message-id"), "date is not signed"),
    ],
)
def test_a_signature_must_cover_what_decides(zone, names, why) -> None:
    verdict = examined(zone, signed(mail(), "home.example.org", names=names))
    assert verdict.result == "fail"
    assert why in verdict.checks


def test_words_below_a_signed_length_are_not_signed(zone) -> None:
    raw = signed(mail(), "home.example.org", length=True) + b"resign\r\n"
    verdict = examined(zone, raw)
    assert verdict.result == "fail"
    assert "l= leaves a part unsigned" in verdict.checks


@pytest.mark.parametrize("field", ["Subject: resign", "To: x@y.example", "Message-ID: <9@x>"])
def test_a_second_field_above_the_signed_one_is_seen(zone, field) -> None:
    # Signers take the lowest field of a name (RFC 6376 section 5.4.2), readers the first.
    names = ("from", "to", "subject", "date", "message-id")
    raw = f"{field}\r\n".encode() + signed(mail(), "home.example.org", names=names)
    verdict = examined(zone, raw)
    assert verdict.result == "fail"
    assert "there are 2" in verdict.checks


@pytest.mark.parametrize(
    "to",
    [
        "mallory@evil.example",
        f'"{HOUSE}" <mallory@evil.example>',
        f"({HOUSE}) mallory@evil.example",
        f"{HOUSE}.evil.example",
        f"x{HOUSE}",
        f'mallory@evil.example, "a, {HOUSE}, b" <c@evil.example>',
    ],
)
def test_a_mail_to_somebody_else_cannot_be_handed_in_here(zone, to) -> None:
    verdict = examined(zone, signed(mail(to=to), "home.example.org"))
    assert verdict.result == "fail"
    assert "it was not written to this address" in verdict.checks


@pytest.mark.parametrize(
    "to", [f"Games <{HOUSE}>", f"bob@x.example, {HOUSE.upper()}", f'"a,b" <{HOUSE}>']
)
def test_one_of_several_readers_is_enough(zone, to) -> None:
    assert examined(zone, signed(mail(to=to), "home.example.org")).result == "pass"


@rows("record", ["v=DKIM1; p=", "v=DKIM1; k=rsa; p=????", "nonsense p=", None])
def test_a_key_that_was_withdrawn_or_is_none(record) -> None:
    zone = Zone()
    if record is not None:
        zone.add_txt("s1._domainkey.home.example.org", record)
    assert examined(zone, signed(mail(), "home.example.org")).result == "fail"


def test_a_key_for_tests_does_not_count() -> None:
    zone = Zone()
    zone.add_txt("s1._domainkey.home.example.org", ed25519_key().record + "; t=s : y")
    verdict = examined(zone, signed(mail(), "home.example.org"))
    assert verdict.result == "fail"
    assert "for tests only" in verdict.checks


def test_a_short_key_does_not_count() -> None:
    zone = Zone()
    key = rsa_key()
    publish(zone, "home.example.org", key)
    raw = signed(mail(), "home.example.org", key).replace(b"a=rsa-sha256", b"a=rsa-sha1")
    assert "an algorithm that does not count" in examined(zone, raw).checks


def test_silent_name_servers_are_no_proof_and_no_disproof(zone) -> None:
    raw = signed(mail(), "home.example.org")
    zone.broken.add("s1._domainkey.home.example.org")
    assert examined(zone, raw).result == "temperror"
    zone.broken = {"_dmarc.home.example.org"}  # so it may be strict
    assert examined(zone, raw).result == "pass"


def test_strange_signatures_beside_the_right_one_do_not_harm(zone) -> None:
    raw = signed(mail(), "home.example.org")
    for extra in ("d=", "v=1; d=home.example.org; d=x; b=", "d=evil.example; l=0", ";;;", "\u00e9"):
        raw = f"DKIM-Signature: {extra}\r\n".encode() + raw
    assert examined(zone, raw).result == "pass"


def test_only_a_few_signatures_cost_a_question(zone) -> None:
    false = (
        b"DKIM-Signature: v=1; a=ed25519-sha256; d=home.example.org; s=x%d;"
        b" h=from:to:subject:date:message-id; bh=AAAA; b=AAAA\r\n"
    )
    raw = b"".join(false % n for n in range(100)) + mail()
    assert examined(zone, raw).result == "fail"
    assert (
        sum(count for (kind, name), count in zone.question_counts.items() if "_domainkey" in name)
        <= 3
    )


# -- the client ------------------------------------------------------------------------------


@rows(
    ("record", "result"),
    [
        ("v=spf1 ip4:198.51.100.0/24 -all", "pass"),
        ("v=spf1 a:mail.example.org -all", "pass"),
        ("v=spf1 include:_spf.example.org -all", "pass"),
        ("v=spf1 redirect=_spf.example.org", "pass"),
        ("v=spf1 ptr -all", "pass"),
        ("v=spf1 exists:%{l}.%{ir}.ok.example.org -all", "pass"),
        ("v=spf1 ip4:203.0.113.0/24 -all", "fail"),
        ("v=spf1 ~all", "fail"),
        ("v=spf1 ?ip4:198.51.100.7", "fail"),
        ("v=spf1 +all", "fail"),
        ("v=spf1 include:everybody.example -all", "fail"),
        ("v=spf1 ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all", "fail"),
        ("v=spf1 exists:%{i}.any.example -all", "fail"),
        ("v=spf1 ip4:198.51.100.7/99", "fail"),
        ("v=spf1 include:loop.example -all", "fail"),
        ("spf1 all", "fail"),
    ],
)
def test_spf_clients_of_a_domain(record, result) -> None:
    zone = Zone()
    zone.add_txt("home.example.org", record, "another text")
    zone.add_txt("_spf.example.org", "v=spf1 ip4:198.51.100.7 -all")
    zone.add_txt("everybody.example", "v=spf1 +all")
    zone.add_txt("loop.example", "v=spf1 include:loop.example")
    zone.add("A", "mail.example.org", "192.0.2.1", PEER)
    zone.add_ptr(PEER, "mail.home.example.org")
    zone.add("A", "mail.home.example.org", PEER)
    zone.add("A", "alice.7.100.51.198.ok.example.org", "127.0.0.2")
    for address in (PEER, "203.0.113.77"):
        zone.add("A", f"{address}.any.example", "127.0.0.2")
    verdict = examined(zone, mail())
    assert verdict.result == result, verdict.checks
    assert verdict.checks.startswith("spf=")


def test_ipv6_clients() -> None:
    zone = Zone()
    zone.add_txt("home.example.org", "v=spf1 ip6:2001:db8:1::/48 -all")
    assert examined(zone, mail(), peer="2001:db8:1::25").result == "pass"
    assert examined(zone, mail(), peer="2001:db8:2::25").result == "fail"
    zone.remove("TXT", "home.example.org")
    zone.add_txt("home.example.org", "v=spf1 ip6::/0 -all")
    assert examined(zone, mail(), peer="2001:db8:1::25").result == "fail"


@rows(
    "envelope",
    [
        {"sender": "alice@evil.example"},
        {"sender": '"alice@home.example.org"@evil.example'},
        {"sender": "alice@home.example.org@evil.example"},
        {"sender": "", "hello": "evil.example"},
        {"sender": "alice@home.example.org.evil.example"},
    ],
)
def test_an_envelope_of_another_domain_proves_nothing(envelope) -> None:
    zone = Zone()
    for name in ("evil.example", "home.example.org.evil.example"):
        zone.add_txt(name, "v=spf1 ip4:198.51.100.7 -all")
    zone.add_txt("home.example.org", "v=spf1 -all")
    assert examined(zone, mail(), **envelope).result == "fail"


def test_a_null_sender_is_known_by_its_greeting() -> None:
    zone = Zone()
    zone.add_txt("mail.example.org", "v=spf1 ip4:198.51.100.7 -all")
    assert examined(zone, mail(), sender="").result == "pass"
    zone.add_txt("_dmarc.example.org", "v=DMARC1; p=none; aspf=s")
    assert examined(zone, mail(), sender="").result == "fail"


def test_silent_name_servers_say_nothing_about_a_client() -> None:
    zone = Zone(broken={"home.example.org"})
    assert examined(zone, mail()).result == "temperror"


# -- policies --------------------------------------------------------------------------------


@rows(
    ("records", "result"),
    [
        (["v=DMARC1; p=reject"], "forged"),
        (["v=DMARC1;p=reject;pct=0"], "fail"),  # "to no mail": a trial (RFC 9989 section 4.7)
        (["v=DMARC1;p=reject;t=y"], "fail"),
        (["v=DMARC1;p=reject;pct=50"], "forged"),
        (["v=DMARC1; p=reject; sp=none"], "fail"),
        (["v=DMARC1; p=none; sp=reject"], "forged"),
        (["v=DMARC1; p=none; SP=Reject"], "forged"),
        (["v=DMARC1; sp=reject"], "forged"),
        (["v=DMARC1; p=reject; sp=rejct"], "fail"),
        (["v=DMARC1; p=none; np=reject"], "forged"),
        (["v=DMARC1; p=reject; sp=reject; np=none"], "fail"),
        (["v=DMARC1; p=quarantine"], "fail"),
        (["v=DMARC1; p=none"], "fail"),
        (["v=DMARC1; p=reject", "v=DMARC1; p=reject"], "fail"),
        (["p=reject; v=DMARC1"], "fail"),
        (["v=DMARC2; p=reject"], "fail"),
        (["something else", "v=DMARC1; p=reject"], "forged"),
    ],
)
def test_a_mail_that_its_domain_disowns_is_a_forgery(records, result) -> None:
    zone = Zone()
    zone.add_txt("_dmarc.example.org", *records)
    assert examined(zone, mail()).result == result


@pytest.mark.parametrize("record", ["v=DMARC1; p=none; np=reject", "v=DMARC1; p=none; sp=reject"])
def test_a_domains_own_policy_is_not_its_sub_domains(zone, record) -> None:
    zone.add_txt("_dmarc.home.example.org", record)
    assert examined(zone, mail()).result == "fail"
    zone.remove("TXT", "_dmarc.home.example.org")
    zone.add_txt("_dmarc.example.org", record)
    zone.add("A", "home.example.org", "192.0.2.1")  # so there is such a sub-domain
    assert examined(zone, mail()).result == ("forged" if "sp" in record else "fail")


def test_whether_a_sub_domain_exists_may_be_unknown(zone) -> None:
    zone.add_txt("_dmarc.example.org", "v=DMARC1; p=reject; np=reject")
    zone.broken.add("home.example.org")
    assert examined(zone, mail(), sender="").result == "fail"


@pytest.fixture
def disowning(zone) -> Zone:
    zone.add_txt("_dmarc.example.org", "v=DMARC1; p=reject")
    return zone


@pytest.mark.parametrize(
    "raw",
    [
        signed(mail(to="friends@lists.example"), "home.example.org"),  # we were in Bcc
        signed(mail(), "home.example.org", length=True) + b"A footer.\r\n",
        signed(mail(), "home.example.org", names=("from",)),
    ],
    ids=["bcc", "length", "names"],
)
def test_a_signature_that_is_right_but_does_not_count_is_no_forgery(disowning, raw) -> None:
    assert examined(disowning, raw).result == "fail"


JUNK = "DKIM-Signature: v=1; a=rsa-sha256; s=s1; bh=AAAA; b=AAAA; h=from:to:subject; d="


@pytest.mark.parametrize(
    "more",
    [
        f"{JUNK}evil.example\r\n",
        f"{JUNK}home.example.org\r\n",
        f"{JUNK}home.example.org; l=0\r\n",
        f"{JUNK}home.example.org\r\n" * 5,
        f"{JUNK.replace('sha256', 'sha1')}home.example.org\r\n",
        f"{JUNK}home.example.org\r\n" + "X: y\r\n" * 1_001,
        "ARC-Seal: i=1; d=evil.example\r\n",
    ],
    ids=["other", "wrong", "length", "many", "sha1", "long", "seal"],
)
def test_a_signature_that_anybody_can_write_excuses_no_forgery(disowning, more) -> None:
    trusted = Trusted(sealers=frozenset({"forward.example"}))
    assert examined(disowning, mail(more=more), trusted).result == "forged"


def test_a_forgers_own_signature_and_client_excuse_nothing(disowning) -> None:
    publish(disowning, "evil.example")
    disowning.add_txt("evil.example", "v=spf1 ip4:198.51.100.7 -all")
    raw = signed(mail(), "evil.example")
    assert examined(disowning, raw, sender="m@evil.example").result == "forged"
    disowning.broken.add("evil.example")  # nor do name servers that the forger has broken
    assert examined(disowning, raw, sender="m@evil.example").result == "forged"


def test_nothing_is_refused_while_the_senders_name_servers_are_silent(disowning) -> None:
    disowning.broken.add("s1._domainkey.home.example.org")
    assert examined(disowning, signed(mail(), "home.example.org")).result == "temperror"


@rows("sender", ["alice@localhost", "alice@com", "alice@-.example"])
def test_a_domain_that_nobody_can_have_vouches_for_nobody(sender) -> None:
    verdict = examined(Zone(), mail(sender))
    assert verdict.result == "fail"


# -- what a mail server of ours found out ----------------------------------------------------

RELAY = Trusted(server="mx.games.example")


RECEIVED = (
    b"Received: from mail.example.org by mx.games.example; Sat, 21 Nov 2026 06:00:01 +0000\r\n"
)


def wrote(results: str) -> bytes:
    return f"Authentication-Results: {results}\r\n".encode()


def passed_on(results: str, raw: bytes = b"") -> bytes:
    """Return a mail as our own mail server hands it on, with its results on top."""
    return wrote(results) + RECEIVED + (raw or mail())


@rows(
    ("results", "result"),
    [
        ("mx.games.example; spf=pass smtp.mailfrom=alice@home.example.org", "pass"),
        ("MX.games.example 1; spf=pass smtp.mailfrom=example.org", "pass"),
        ("mx.games.example; spf=pass smtp.mailfrom=home.example.org; dmarc=pass (x)", "pass"),
        ("mx.games.example; spf=pass smtp.mailfrom=evil.example; dmarc=fail", "fail"),
        ("mx.games.example; spf=pass smtp.mailfrom=<alice@home.example.org>;", "pass"),
        ("mx.games.example; spf=none smtp.helo=[203.0.113.9]; dmarc=none;", "fail"),
        ("mx.games.example; spf=softfail smtp.mailfrom=home.example.org", "fail"),
        ("mx.games.example; dkim=pass header.d=home.example.org", "fail"),  # no such signature
        ("mx.games.example; none", "unchecked"),
        ("mx.evil.example; spf=pass smtp.mailfrom=home.example.org", "unchecked"),
        ("mx.games.example.evil.example; spf=pass smtp.mailfrom=home.example.org", "unchecked"),
        ("mx.games.example (spf=pass smtp.mailfrom=home.example.org); spf=none", "fail"),
        (
            "mx.games.example; dmarc=pass header.from=home.example.org; dmarc=fail header.from=x",
            "fail",
        ),
        ("((((((((((", "unchecked"),
        ('mx.games.example; spf=pass smtp.mailfrom="home.example.org', "fail"),
    ],
)
def test_only_our_own_servers_word_counts(results, result) -> None:
    verdict = examined(Zone(), passed_on(results), RELAY, handed_on=True)
    assert verdict.result == result, verdict


def test_nobody_outside_can_speak_for_our_server() -> None:
    raw = passed_on("mx.games.example; spf=pass smtp.mailfrom=home.example.org")
    assert examined(Zone(), raw, RELAY).result == "fail"
    assert examined(Zone(), raw, handed_on=True).result == "unchecked"  # we have no such server


def test_a_field_below_our_servers_own_is_a_forgers() -> None:
    forged = passed_on("mx.games.example; spf=pass smtp.mailfrom=home.example.org")
    raw = passed_on("mx.games.example; spf=fail smtp.mailfrom=home.example.org", forged)
    assert examined(Zone(), raw, RELAY, handed_on=True).result == "fail"


def test_a_signature_that_our_server_found_right_must_still_cover_what_decides() -> None:
    right = "mx.games.example; dkim=pass header.d=home.example.org header.b="
    whole = signed(mail(), "home.example.org")
    mark = whole.split(b"b=")[-1][:8].decode()
    assert examined(Zone(), passed_on(right + mark, whole), RELAY, handed_on=True).result == "pass"
    other = passed_on(right + "zzzzzzzz", whole)
    assert examined(Zone(), other, RELAY, handed_on=True).result == "fail"
    replayed = signed(mail(to="mallory@evil.example"), "home.example.org")
    verdict_of_copy = passed_on("mx.games.example; dkim=pass header.d=home.example.org", replayed)
    assert examined(Zone(), verdict_of_copy, RELAY, handed_on=True).result == "fail"


PASSED = "mx.games.example; spf=pass smtp.mailfrom=alice@home.example.org"
NOTHING = "mx.games.example; dkim=none"


@rows(
    "raw",
    [
        wrote(NOTHING) + RECEIVED + wrote(PASSED) + mail(),
        RECEIVED + wrote(NOTHING) + wrote(PASSED) + mail(),
        RECEIVED + wrote(PASSED) + mail(),
        RECEIVED + wrote(PASSED) + RECEIVED + mail(),
        RECEIVED.replace(b"Received:", b"RECEIVED :") + wrote(PASSED) + mail(),
        wrote(PASSED) + mail(),  # who wrote it, if our server wrote no Received?
        b"X: y\r\n " + RECEIVED + wrote(PASSED) + mail(),
    ],
)
def test_a_strangers_field_stands_below_what_our_server_received(raw) -> None:
    verdict = examined(Zone(), raw, RELAY, handed_on=True)
    assert verdict.result == "fail"


# Milters of Postfix write below the Received field of the server that they serve.
BELOW = replace(RELAY, hops=1)


@rows(
    ("raw", "result"),
    [
        (RECEIVED + wrote(PASSED) + mail(), "pass"),
        (RECEIVED + wrote(NOTHING) + wrote(PASSED) + RECEIVED + mail(), "pass"),
        (wrote(PASSED) + RECEIVED + mail(), "pass"),
        (RECEIVED + RECEIVED + wrote(PASSED) + mail(), "fail"),
        (RECEIVED + wrote("mx.games.example; spf=fail") + wrote(PASSED) + mail(), "fail"),
        # The server did not remove what came from outside: who wrote the one above?
        (RECEIVED + wrote(PASSED) + RECEIVED + wrote(PASSED) + mail(), "fail"),
        (wrote(PASSED) + RECEIVED + RECEIVED + wrote(PASSED) + mail(), "pass"),
        (wrote(PASSED) + mail(), "fail"),
    ],
)
def test_results_below_our_own_received_field_count_where_the_operator_says_so(raw, result) -> None:
    assert examined(Zone(), raw, BELOW, handed_on=True).result == result


def test_results_may_stand_below_two_servers_of_ours() -> None:
    raw = RECEIVED + RECEIVED + wrote(PASSED) + RECEIVED + mail()
    assert examined(Zone(), raw, replace(RELAY, hops=2), handed_on=True).result == "pass"
    assert examined(Zone(), raw, BELOW, handed_on=True).result == "fail"
    raw = RECEIVED + wrote(PASSED) + mail()  # one of the two is missing
    assert examined(Zone(), raw, replace(RELAY, hops=2), handed_on=True).result == "fail"


COVERING = "h=from:to:cc:subject:date:message-id"
WEAK = [
    signed(mail(), "home.example.org", names=("from", "subject", "date", "message-id")),
    signed(mail(), "home.example.org", length=True) + b"resign\r\n",
]


def mark_of(raw: bytes) -> str:
    return "".join(raw.split(b" b=", 1)[1][:20].decode().split())[:8]


def beside(raw: bytes, *, of: str = "home.example.org", more: str = "s=s1") -> bytes:
    """Return a mail with a false signature on top that resembles its own."""
    field = f"v=1; a=ed25519-sha256; d={of}; {more}; {COVERING}; bh=AAAA; b={mark_of(raw)}AAAA"
    return f"DKIM-Signature: {field}\r\n".encode() + raw


@rows("weak", WEAK, ids=["names", "length"])
@rows(
    "results",
    [
        "dkim=pass header.d=home.example.org header.b={b}",
        "dkim=pass header.d=home.example.org header.s=s1 header.b={b}",
        "dkim=pass header.d=home.example.org",
        "dkim=pass header.i=@home.example.org header.s=s1 header.b={b}",
        "dkim=pass header.d=home.example.org header.b={b}; dkim=fail header.d=HOME.example.org",
    ],
)
def test_a_signature_beside_the_right_one_lends_it_nothing(weak, results) -> None:
    results = f"mx.games.example; {results.format(b=mark_of(weak))}"
    for raw in (
        weak,
        beside(weak),
        beside(weak.replace(b"v=1;", b"v=1;" + b" " * 70, 1)),  # the right one becomes unreadable
        beside(weak, more="s=s1") + b"",
        beside(b"DKIM-Signature: d=x.example\r\n" * 20 + weak),
    ):
        verdict = examined(Zone(), passed_on(results, raw), RELAY, handed_on=True)
        assert verdict.result == "fail", verdict


def test_a_parents_signature_may_be_the_one_meant() -> None:
    weak = signed(mail(), "example.org", names=("from", "subject", "date", "message-id"))
    field = f"mx.games.example; dkim=pass header.i=@home.example.org header.b={mark_of(weak)}"
    verdict = examined(Zone(), passed_on(field, beside(weak)), RELAY, handed_on=True)
    assert verdict.result == "fail"
    assert "another domain may be meant" in verdict.checks


def test_a_signature_that_was_also_found_wrong_proves_nothing() -> None:
    whole = signed(mail(), "home.example.org")
    about = f"header.d=home.example.org header.s=s1 header.b={mark_of(whole)}"
    other = "header.d=home.example.org header.s=s2 header.b=zzzzzzzz"
    right = f"mx.games.example; dkim=fail {other}; dkim=pass {about}"
    assert examined(Zone(), passed_on(right, whole), RELAY, handed_on=True).result == "pass"
    both = f"mx.games.example; dkim=pass {about}; dkim=fail {about}"
    verdict = examined(Zone(), passed_on(both, whole), RELAY, handed_on=True)
    assert verdict.result == "fail"
    assert "contradict each other" in verdict.checks
    old = whole.replace(b"ed25519-sha256", b"rsa-sha1")
    assert examined(Zone(), passed_on(right, old), RELAY, handed_on=True).result == "fail"


# -- forwarders ------------------------------------------------------------------------------

SEALED = Trusted(sealers=frozenset({"forward.example"}))
SAID = "spf=pass smtp.mailfrom=alice@home.example.org; dkim=none"


@pytest.fixture
def forwarder() -> Zone:
    names = Zone()
    publish(names, "forward.example", rsa_key(), "arc")
    publish(names, "evil.example", rsa_key(), "arc")
    return names


def test_verdicts_of_a_trusted_forwarder_count(forwarder) -> None:
    verdict = examined(forwarder, sealed(mail(), "forward.example", SAID), SEALED)
    assert verdict.result == "pass", verdict
    assert "arc=pass" in verdict.checks


@pytest.mark.parametrize(
    ("domain", "results", "trusted"),
    [
        ("forward.example", SAID, Trusted()),
        ("evil.example", SAID, SEALED),
        ("forward.example", "spf=fail smtp.mailfrom=alice@home.example.org", SEALED),
        ("forward.example", "spf=pass smtp.mailfrom=evil.example", SEALED),
    ],
)
def test_other_seals_do_not(forwarder, domain, results, trusted) -> None:
    assert examined(forwarder, sealed(mail(), domain, results), trusted).result == "fail"


def test_a_forwarders_verdict_is_about_a_signature_that_it_sealed(forwarder) -> None:
    whole, weak = signed(mail(), "home.example.org"), WEAK[0]
    names = (*USUAL, "dkim-signature")

    def verdict(raw: bytes, seen: tuple[str, ...] = names, top: bytes = b"") -> Verdict:
        field = f"dkim=pass header.d=home.example.org header.s=s1 header.b={mark_of(raw)}"
        return examined(forwarder, top + sealed(raw, "forward.example", field, names=seen), SEALED)

    assert verdict(whole).result == "pass"
    assert verdict(whole, USUAL).result == "fail"  # it may have been another one
    assert verdict(weak).result == "fail"
    assert verdict(beside(weak), (*names, "dkim-signature")).result == "fail"
    bogus = beside(weak).removesuffix(weak)
    assert verdict(weak, top=bogus).result == "fail"  # put there later
    assert verdict(weak, USUAL, top=bogus).result == "fail"
    assert verdict(whole, top=b"DKIM-Signature: d=later.example\r\n").result == "pass"


def test_a_seal_proves_no_more_than_it_covers(forwarder) -> None:
    forwarder.add_txt("_dmarc.example.org", "v=DMARC1; p=reject")
    names = tuple(name for name in USUAL if name != "to")
    raw = sealed(mail(), "forward.example", SAID, names=names)
    verdict = examined(forwarder, raw, SEALED)
    assert verdict.result == "fail"  # but the sender is no forger
    assert "to is not signed" in verdict.checks
    assert examined(forwarder, raw.replace(b"Hello.", b"Bye."), SEALED).result == "forged"


def test_a_seal_does_not_outlive_a_change(forwarder) -> None:
    raw = sealed(mail(), "forward.example", SAID)
    for changed, into in (
        (b"Hello.", b"Bye."),
        (b"spf=pass", b"spf=pasS"),
        (b"alice - g", b"alice - h"),
    ):
        assert examined(forwarder, raw.replace(changed, into), SEALED).result == "fail"


def test_a_mail_to_somebody_else_is_not_ours_by_being_forwarded(forwarder) -> None:
    raw = sealed(mail(to="mallory@forward.example"), "forward.example", SAID)
    assert examined(forwarder, raw, SEALED).result == "fail"


def test_a_stranger_who_seals_on_top_of_a_trusted_seal_is_seen(forwarder) -> None:
    once = sealed(mail(), "forward.example", SAID)
    raw = sealed(once, "evil.example", f"arc=pass; {SAID}")
    assert examined(forwarder, raw, SEALED).result == "fail"


def _slow(blanks: int) -> bytes:
    line = b" " * blanks + b"x\r\n"
    return mail() + line * (1_000_000 // len(line))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (_slow(40), "too many blanks in a row"),
        (_slow(990), "too many blanks in a row"),
        (b"X: y\r\n" * 1_001 + mail(), "too many header fields"),
        (mail() + b"\r\n" * 500_000, "signature or key is wrong"),
        (_slow(39), "signature or key is wrong"),
    ],
    ids=lambda value: f"{len(value)}" if isinstance(value, bytes) else None,
)
def test_a_mail_made_to_be_slow_is_not_computed_with(zone, raw, why) -> None:
    verdict = examined(zone, signed_anyhow(raw), Trusted(), handed_on=True)
    assert verdict.result == "fail"
    assert why in verdict.checks or (why.startswith("sig") and "dkim=permerror" in verdict.checks)


@pytest.mark.parametrize(
    "field",
    [
        b"DKIM-Signature: v=1; b" + b" \r\n" * 15_000 + b" ; d=home.example.org\r\n",
        b"DKIM-Signature: d=home.example.org; h=" + b"\r\n from:" * 5_000 + b"\r\n",
        b"ARC-Seal: i=1; d=home.example.org; " + b"\r\n a=" * 9_000 + b"\r\n",
        b"Authentication-Results: mx.games.example; " + b"(" * 900 + b"\r\n",
        b"Authentication-Results: mx.games.example" + b"; dkim=pass (" * 300 + b"\r\n",
    ],
    ids=lambda field: f"{len(field)}",
)
def test_a_field_made_to_be_slow_is_not_read(zone, field) -> None:
    trusted = Trusted("mx.games.example", frozenset({"home.example.org"}))
    verdict = examined(zone, field + mail(), trusted, handed_on=True)
    assert verdict.result in {"fail", "unchecked"}
    assert not any(name.endswith("_domainkey.home.example.org") for _, name in zone.question_counts)


def signed_anyhow(raw: bytes) -> bytes:
    """Return a mail with a signature that is wrong only when computed."""
    return (
        b"DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=home.example.org; s=s1;"
        b" h=from:to:subject:date:message-id; bh=AAAA; b=AAAA\r\n" + raw
    )


# -- anything --------------------------------------------------------------------------------

_WORDS = st.sampled_from(
    [b"d=", b"home.example.org", b";", b" ", b"\t", b"\r\n ", b"i=1", b"(", b'"', b"\\", b"b=",
     b"=", b"a=rsa-sha256", b"h=from:to", b"s=s1", b"c=", b"relaxed/", b"bh=", b"AAAA", b"spf=pass",
     b"mx.games.example;", b"smtp.mailfrom=", b"%{", b"\xff", b"\x00", b"9" * 30, b"x" * 300]
)  # fmt: skip
_FIELD = st.tuples(
    st.sampled_from(
        [b"DKIM-Signature", b"ARC-Seal", b"ARC-Message-Signature", b"ARC-Authentication-Results",
         b"Authentication-Results", b"From", b"To", b"Message-ID"]
    ),
    st.lists(_WORDS, max_size=40).map(b"".join),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(_FIELD, max_size=8), st.booleans())
def test_nothing_in_a_header_makes_the_checks_fail_or_the_sender_proven(fields, handed_on) -> None:
    zone = Zone()
    publish(zone, "home.example.org", ed25519_key(7))
    raw = b"".join(name + b": " + value + b"\r\n" for name, value in fields) + mail()
    trusted = Trusted("mx.games.example", frozenset({"home.example.org"}))
    verdict = examined(zone, raw, trusted, handed_on=handed_on, hello="\x00", sender="%{d}@%{l}")
    assert verdict.result in {"fail", "unchecked", "temperror"} or b"spf=pass" in raw
    assert verdict.checks.isascii()
    assert verdict.checks.isprintable()
